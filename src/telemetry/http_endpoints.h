#pragma once

#include "net/server.h"
#include "telemetry/health.h"
#include "telemetry/metrics.h"

namespace trainyard::telemetry {

// Serves /metrics, /healthz and /readyz (?verbose lists every check); returns 404 for other paths and 405 for
// other methods than GET. Both arguments must outlive the server.
[[nodiscard]] net::ServerHandler makeEndpoints(const MetricsRegistry& metrics, const Health& health);

// Limits for a server that any client on the network can reach, in a program with little memory.
[[nodiscard]] net::ServerLimits endpointLimits();

}  // namespace trainyard::telemetry
