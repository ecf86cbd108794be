#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/cycle/cycle.h"
#include "model/snapshot.h"
#include "operator/metrics/cycle_metrics.h"
#include "operator/metrics/job_metrics.h"
#include "operator/metrics/outcome_metrics.h"
#include "operator/metrics/placement_metrics.h"
#include "operator/metrics/proposal_metrics.h"
#include "operator/metrics/queue_metrics.h"
#include "operator/metrics/request_metrics.h"
#include "operator/resize_metrics.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// Metrics that the operator exports to Prometheus; each subject has a class of its own. Labels are closed
// sets: phases, reasons, resource types, and the queues, which administrators name; never names of jobs.
class OperatorMetrics {
 public:
  explicit OperatorMetrics(telemetry::MetricsRegistry& registry);

  void setLeading(bool leading) { leader_.set(leading ? 1 : 0); }
  void countWrite(std::string_view resource) { requests_.countWrite(resource); }
  // Count requests for logs of running jobs, and those that found a progress report.
  void countLogRead(bool answered) { requests_.countLogRead(answered); }
  void countReports() { requests_.countReport(); }
  void noteCycle(const CycleParts& parts) { cycles_.note(parts); }
  // Terms of the cycle's sizes of elastic gangs; absent if no gang could have another size.
  void noteSizes(const std::optional<core::SizeTerms>& terms) { resizes_.noteSizes(terms); }
  // How far queues are from their fair shares at the end of a cycle.
  void noteFairness(std::int64_t lossPermille) { cycles_.noteFairness(lossPermille); }
  // Reports jobs, GPUs and queues as they are now. Visits every job, so do not call it in every cycle.
  void describe(const model::Snapshot& snapshot);
  // Records a status write: counts placements, changes, preemptions, endings and waiting by cause, and how
  // long they took.
  void noteTransition(const model::Job& before, const model::JobStatus& after, base::WallTime now);

 private:
  telemetry::Gauge leader_;
  CycleMetrics cycles_;
  ProposalMetrics proposals_;
  QueueMetrics queues_;
  PlacementMetrics placements_;
  JobMetrics jobs_;
  RequestMetrics requests_;
  OutcomeMetrics outcomes_;
  ResizeMetrics resizes_;
};

}  // namespace trainyard::operator_
