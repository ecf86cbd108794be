#pragma once

#include "net/server.h"
#include "telemetry/health.h"
#include "telemetry/metrics.h"

namespace trainyard::telemetry {

// Serves /metrics, /healthz and /readyz (?verbose lists every check); anything else is 404. Both arguments must
// outlive the server.
[[nodiscard]] net::ServerHandler makeEndpoints(const MetricsRegistry& metrics, const Health& health);

}  // namespace trainyard::telemetry
