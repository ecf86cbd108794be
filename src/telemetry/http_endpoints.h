#pragma once

#include "net/server.h"
#include "telemetry/health.h"
#include "telemetry/metrics.h"

namespace trainyard::telemetry {

// Serves /metrics, /healthz and /readyz (?verbose lists every check); other paths are 404, other methods than
// GET 405. Both arguments must outlive the server.
[[nodiscard]] net::ServerHandler makeEndpoints(const MetricsRegistry& metrics, const Health& health);

// For a server that anybody on the network may ask, of a program with little memory.
[[nodiscard]] net::ServerLimits endpointLimits();

}  // namespace trainyard::telemetry
