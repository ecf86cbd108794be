#pragma once

#include "telemetry/metrics.h"

namespace trainyard::telemetry {

// process_cpu_seconds_total, process_resident_memory_bytes, process_virtual_memory_bytes, process_open_fds,
// process_max_fds, process_threads and process_start_time_seconds, as Prometheus' own clients name them, read
// from /proc whenever somebody asks. What cannot be read keeps its last value.
void addProcessMetrics(MetricsRegistry& registry);

}  // namespace trainyard::telemetry
