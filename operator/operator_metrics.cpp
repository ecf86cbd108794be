#include "operator/operator_metrics.h"

namespace trainyard::operator_ {

OperatorMetrics::OperatorMetrics(telemetry::MetricsRegistry& registry)
    : leader_(registry.gauge("trainyard_leader", "1 while this replica leads.")),
      cycles_(registry),
      proposals_(registry),
      queues_(registry),
      placements_(registry, queues_),
      jobs_(registry),
      requests_(registry),
      outcomes_(registry),
      resizes_(registry) {}

void OperatorMetrics::describe(const model::Snapshot& snapshot) {
  jobs_.describe(snapshot);
  resizes_.setShapeCosts(snapshot.policy.shapeCosts);
  proposals_.describe(snapshot);
  queues_.describe(snapshot);
}

void OperatorMetrics::noteTransition(const model::Job& before, const model::JobStatus& after,
                                     base::WallTime now) {
  resizes_.note(before, after);
  placements_.note(before, after, now);
  proposals_.note(before, after, now);
  outcomes_.note(before.status, after, now);
}

}  // namespace trainyard::operator_
