#pragma once

#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// The metrics of requests for nodes.
struct NodesMetrics {
  explicit NodesMetrics(telemetry::MetricsRegistry& registry);

  telemetry::Counter asked;
  telemetry::Counter provisioned;
  telemetry::Counter failed;
  telemetry::Gauge open;
};

}  // namespace trainyard::operator_
