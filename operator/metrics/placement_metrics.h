#pragma once

#include "model/job.h"
#include "operator/metrics/queue_metrics.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// Metrics of how long jobs are pending until they are placed, in all and by cause.
class PlacementMetrics {
 public:
  PlacementMetrics(telemetry::MetricsRegistry& registry, QueueMetrics& queues);

  // Records a status write.
  void note(const model::Job& before, const model::JobStatus& after, base::WallTime now);

 private:
  void noteDelays(const model::JobStatus& before, const model::JobStatus& after);

  QueueMetrics& queues_;
  telemetry::Histogram placementSeconds_;
  telemetry::Counter fairShareDelay_;
  telemetry::Counter fragmentationDelay_;
};

}  // namespace trainyard::operator_
