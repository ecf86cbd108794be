#include "agent/agent_metrics.h"

namespace trainyard::agent {
namespace {

telemetry::Gauge gaugeOf(telemetry::MetricsRegistry& registry, const char* name) {
  return registry.gauge("trainyard_agent_discipline",
                        "1 for how the order is applied: strict, by turns, or with a guaranteed part",
                        {{"discipline", name}});
}

}  // namespace

DisciplineMetrics::DisciplineMetrics(telemetry::MetricsRegistry& registry)
    : strict_(gaugeOf(registry, "strict")),
      rotate_(gaugeOf(registry, "rotate")),
      guaranteed_(gaugeOf(registry, "guaranteed")) {}

void DisciplineMetrics::set(std::optional<core::Discipline> discipline) {
  strict_.set(discipline == core::Discipline::kStrict ? 1 : 0);
  rotate_.set(discipline == core::Discipline::kRotate ? 1 : 0);
  guaranteed_.set(discipline == core::Discipline::kGuaranteed ? 1 : 0);
}

AgentMetrics::AgentMetrics(telemetry::MetricsRegistry& registry)
    : jobs(registry.gauge("trainyard_agent_jobs", "Jobs on this node with traffic to be ordered")),
      pods(registry.gauge("trainyard_agent_pods", "Pods of these jobs on this node")),
      unknown(registry.gauge("trainyard_agent_unknown_pods",
                             "Pods on the node's network without declared ports, which cannot be ordered")),
      ordering(registry.gauge("trainyard_agent_ordering", "1 while the kernel orders traffic")),
      foreign(registry.gauge("trainyard_agent_foreign_qdisc",
                             "1 while the device has a qdisc that is not the agent's: nothing is ordered")),
      rate(registry.gauge("trainyard_agent_link_bytes_per_second",
                          "Rate of the link that is divided; 0: unknown")),
      discipline(registry),
      silence(registry.gauge("trainyard_agent_watch_silence_seconds",
                             "Time since the API server last sent anything")),
      changes(registry.counter("trainyard_agent_kernel_changes_total", "Changes made in the kernel")),
      repairs(registry.counter("trainyard_agent_repairs_total",
                               "Times that the agent reverted changes by other programs in the kernel")),
      errors(registry.counter("trainyard_agent_kernel_errors_total", "Changes that the kernel refused")),
      registry_(registry) {}

void AgentMetrics::setMissing(const std::string& feature, bool missing) {
  registry_
      .gauge("trainyard_agent_feature_missing",
             "1 for each thing that traffic cannot be ordered without and that is missing: a kernel feature, "
             "or LINK_RATE",
             {{"feature", feature}})
      .set(missing ? 1 : 0);
}

}  // namespace trainyard::agent
