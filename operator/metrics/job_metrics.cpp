#include "operator/metrics/job_metrics.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/search/suspicion.h"
#include "model/conditions.h"
#include "model/managed_by.h"

namespace trainyard::operator_ {
namespace {

bool reportedLately(const model::Job& job, base::WallTime now) {
  constexpr std::chrono::minutes kLately{10};
  return job.status.progress && job.status.gang.placed && !job.finished() &&
         now - job.status.progress->at < kLately;
}

}  // namespace

JobMetrics::JobMetrics(telemetry::MetricsRegistry& registry)
    : registry_(registry),
      gpusAllocatable_(registry.gauge("trainyard_gpus_allocatable", "GPUs of all nodes.")),
      gpusPlaced_(registry.gauge("trainyard_gpus_placed", "GPUs of placed gangs.")),
      suspectedNodes_(registry.gauge("trainyard_suspected_nodes",
                                     "Nodes that are avoided because gangs failed there recently.")),
      reportingJobs_(registry.gauge("trainyard_reporting_jobs",
                                    "Running jobs that have reported progress within ten minutes.")),
      stalledJobs_(registry.gauge(
          "trainyard_stalled_jobs",
          "Running jobs without a progress report or log line for longer than their spec allows.")) {}

void JobMetrics::describe(const model::Snapshot& snapshot) {
  std::map<std::string, int> phases;
  std::map<std::string, int> reasons;
  std::int64_t allocatable = 0;
  std::int64_t placed = 0;
  int reporting = 0;
  int stalled = 0;
  std::vector<std::shared_ptr<const model::Job>> accusing;
  for (const auto& node : snapshot.nodes) allocatable += node->allocatable.gpus();
  for (const auto& job : snapshot.jobs) {
    if (model::managedByOther(*job)) continue;
    ++phases[job->status.phase.empty() ? "Pending" : job->status.phase];
    if (job->status.pending) ++reasons[std::string(model::toString(job->status.pending->reason))];
    if (job->status.gang.placed && !job->finished()) placed += job->status.gpus;
    if (core::accusesNode(*job)) accusing.push_back(job);
    if (reportedLately(*job, snapshot.now)) ++reporting;
    if (job->status.gang.placed && !job->finished() && job->conditionTrue(model::conditions::kStalled))
      ++stalled;
  }
  suspectedNodes_.set(static_cast<double>(
      core::suspectedNodes(accusing, snapshot.jobs, snapshot.policy, snapshot.now).size()));
  reportingJobs_.set(reporting);
  stalledJobs_.set(stalled);
  gpusAllocatable_.set(static_cast<double>(allocatable));
  gpusPlaced_.set(static_cast<double>(placed));
  publish(byPhase_, phases, "trainyard_jobs", "TrainingJobs by phase.", "phase");
  publish(byReason_, reasons, "trainyard_waiting_jobs", "Pending TrainingJobs, by reason.", "reason");
}

// Sets labels without a value to 0, so that they do not keep their last one.
void JobMetrics::publish(GaugesByLabel& gauges, const std::map<std::string, int>& counts,
                         std::string_view name, std::string_view help, const std::string& label) {
  for (const auto& [value, count] : counts) {
    if (!gauges.contains(value)) gauges.emplace(value, registry_.gauge(name, help, {{label, value}}));
  }
  for (const auto& [value, gauge] : gauges) {
    const auto found = counts.find(value);
    gauge.set(found == counts.end() ? 0 : found->second);
  }
}

}  // namespace trainyard::operator_
