#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "core/cycle/cycle.h"
#include "model/snapshot.h"
#include "operator/resize_metrics.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// Metrics that the operator exports to Prometheus. Labels are closed sets: phases, reasons, resource types,
// and the queues, which administrators name; never names of jobs.
class OperatorMetrics {
 public:
  // The parts of one cycle as the operator runs it: reading the caches, planning in the core, and handing the
  // plan to the executor.
  struct CycleParts {
    base::Instant::duration snapshot{};
    base::Instant::duration plan{};
    base::Instant::duration apply{};
  };

  explicit OperatorMetrics(telemetry::MetricsRegistry& registry);

  void setLeading(bool leading);
  void countWrite(std::string_view resource);
  // Count requests for logs of running jobs, and those that found a progress report.
  void countLogRead(bool answered);
  void countReports();
  void noteCycle(const CycleParts& parts);
  // Terms of the cycle's sizes of elastic gangs; absent if no gang could have another size.
  void noteSizes(const std::optional<core::SizeTerms>& terms) { resizes_.noteSizes(terms); }
  // How far queues are from their fair shares at the end of a cycle.
  void noteFairness(std::int64_t lossPermille);
  // Reports jobs, GPUs and queues as they are now. Visits every job, so do not call it in every cycle.
  void describe(const model::Snapshot& snapshot);
  // Records a status write: counts placements, changes, preemptions, endings and waiting by cause, and how
  // long they took.
  void noteTransition(const model::Job& before, const model::JobStatus& after, base::WallTime now);

 private:
  void noteFailure(const model::JobStatus& before, const model::JobStatus& after, base::WallTime now);
  using GaugesByLabel = std::map<std::string, telemetry::Gauge, std::less<>>;
  // A proposal that is under way, as this process has seen it.
  struct Underway {
    std::string id;
    model::ProposalPhase phase{};
    base::WallTime began{};
    base::WallTime inPhase{};
  };
  void noteProposal(const model::Job& before, const model::JobStatus& after, base::WallTime now);
  void notePlacement(const model::Job& before, const model::JobStatus& after, base::WallTime now);
  void noteStop(const model::JobStatus& before, const model::JobStatus& after);
  void describeProposals(const model::Snapshot& snapshot);
  void describeQueues(const model::Snapshot& snapshot);
  void forgetQueues(const model::Snapshot& snapshot);
  // For phases and reasons: values without a job become 0.
  void publish(GaugesByLabel& gauges, const std::map<std::string, int>& counts, std::string_view name,
               std::string_view help, const std::string& label);
  // For queues: removes the series of queues that are gone.
  void publishQueues(GaugesByLabel& gauges, const std::map<std::string, double>& values,
                     std::string_view name, std::string_view help);

  telemetry::MetricsRegistry& registry_;
  telemetry::Gauge leader_;
  telemetry::Counter cycles_;
  telemetry::Histogram cycleSeconds_;
  telemetry::Histogram snapshotSeconds_;
  telemetry::Histogram planSeconds_;
  telemetry::Histogram applySeconds_;
  telemetry::Gauge oldestProposal_;
  std::map<std::string, Underway, std::less<>> underway_;  // by the job's uid
  std::map<std::string, telemetry::Histogram, std::less<>> queueWaits_;
  telemetry::Histogram placementSeconds_;
  telemetry::Counter aborts_;
  telemetry::Gauge gpusAllocatable_;
  telemetry::Gauge gpusPlaced_;
  telemetry::Gauge fairnessLoss_;
  telemetry::Gauge suspectedNodes_;
  telemetry::Counter logReads_;
  telemetry::Counter logReadErrors_;
  telemetry::Counter progressReports_;
  telemetry::Gauge reportingJobs_;
  telemetry::Gauge stalledJobs_;
  GaugesByLabel jobsByPhase_;
  GaugesByLabel waitingByReason_;
  telemetry::Counter fairShareDelay_;
  telemetry::Counter fragmentationDelay_;
  ResizeMetrics resizes_;
  GaugesByLabel queueGpus_;
  GaugesByLabel queueShare_;
  GaugesByLabel queueFairShare_;
  GaugesByLabel queueWaiting_;
  GaugesByLabel queuePlaced_;
  GaugesByLabel queueDeficit_;
  GaugesByLabel queueOldest_;
  std::map<std::string, telemetry::Counter, std::less<>> writes_;
};

}  // namespace trainyard::operator_
