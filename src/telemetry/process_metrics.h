#pragma once

#include "telemetry/metrics.h"

namespace trainyard::telemetry {

// process_cpu_seconds_total, process_resident_memory_bytes, process_virtual_memory_bytes, process_open_fds,
// process_max_fds, process_threads and process_start_time_seconds, named as by Prometheus' own clients. Each
// scrape reads them from /proc. A value that cannot be read keeps its last one.
void addProcessMetrics(MetricsRegistry& registry);

}  // namespace trainyard::telemetry
