#include "operator/nodes/nodes_metrics.h"

namespace trainyard::operator_ {
namespace {

telemetry::Counter results(telemetry::MetricsRegistry& registry, const char* result) {
  return registry.counter("trainyard_node_requests_total",
                          "Requests for the nodes of a gang, by result: asked, provisioned or failed.",
                          {{"result", result}});
}

}  // namespace

NodesMetrics::NodesMetrics(telemetry::MetricsRegistry& registry)
    : asked(results(registry, "asked")),
      provisioned(results(registry, "provisioned")),
      failed(results(registry, "failed")),
      open(registry.gauge("trainyard_node_requests_open", "Jobs for which nodes are requested now.")) {}

}  // namespace trainyard::operator_
