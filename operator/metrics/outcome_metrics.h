#pragma once

#include "model/job.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// Metrics of how runs of gangs end: stops and failures by cause, what failures cost, and outcomes of jobs.
class OutcomeMetrics {
 public:
  explicit OutcomeMetrics(telemetry::MetricsRegistry& registry) : registry_(registry) {}

  // Records a status write.
  void note(const model::JobStatus& before, const model::JobStatus& after, base::WallTime now);

 private:
  void noteStop(const model::JobStatus& before, const model::JobStatus& after);
  void noteFailure(const model::JobStatus& before, const model::JobStatus& after, base::WallTime now);
  void noteEnd(const model::JobStatus& before, const model::JobStatus& after);

  telemetry::MetricsRegistry& registry_;
};

}  // namespace trainyard::operator_
