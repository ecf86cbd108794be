#include "operator/operator_metrics.h"

#include <array>
#include <chrono>

namespace trainyard::operator_ {
namespace {

double seconds(base::Instant::duration duration) { return std::chrono::duration<double>(duration).count(); }

const std::vector<double> kCycleBounds = {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5};
const std::vector<double> kPlacementBounds = {0.1, 0.5, 1, 5, 10, 60, 300, 1'800, 7'200, 28'800, 86'400};

}  // namespace

OperatorMetrics::OperatorMetrics(telemetry::MetricsRegistry& registry)
    : registry_(registry),
      leader_(registry.gauge("trainyard_leader", "1 while this replica leads.")),
      cycles_(registry.counter("trainyard_cycles_total", "Scheduling cycles run.")),
      cycleSeconds_(registry.histogram("trainyard_cycle_duration_seconds", "Time of one scheduling cycle.",
                                       kCycleBounds)),
      placementSeconds_(registry.histogram("trainyard_job_placement_seconds",
                                           "From a TrainingJob's creation until its whole gang is bound.",
                                           kPlacementBounds)),
      aborts_(
          registry.counter("trainyard_gang_aborts_total", "Attempts to place a gang that were given up.")),
      gpusAllocatable_(registry.gauge("trainyard_gpus_allocatable", "GPUs of all nodes.")),
      gpusPlaced_(registry.gauge("trainyard_gpus_placed", "GPUs of gangs that have their places.")) {}

void OperatorMetrics::setLeading(bool leading) { leader_.set(leading ? 1 : 0); }

void OperatorMetrics::countWrite(std::string_view resource) {
  auto found = writes_.find(resource);
  if (found == writes_.end()) {
    found = writes_
                .emplace(std::string(resource),
                         registry_.counter("trainyard_api_writes_total", "Write requests to the API server.",
                                           {{"resource", std::string(resource)}}))
                .first;
  }
  found->second.increment();
}

void OperatorMetrics::noteCycle(base::Instant::duration cost) {
  cycles_.increment();
  cycleSeconds_.observe(seconds(cost));
}

void OperatorMetrics::describe(const model::Snapshot& snapshot) {
  std::map<std::string, int> phases;
  std::map<std::string, int> reasons;
  std::int64_t allocatable = 0;
  std::int64_t placed = 0;
  for (const auto& node : snapshot.nodes) allocatable += node->allocatable.gpus();
  for (const auto& job : snapshot.jobs) {
    ++phases[job->status.phase.empty() ? "Pending" : job->status.phase];
    if (job->status.pending) ++reasons[std::string(model::toString(job->status.pending->reason))];
    if (job->status.gang.placed && !job->finished()) placed += job->status.gpus;
  }
  gpusAllocatable_.set(static_cast<double>(allocatable));
  gpusPlaced_.set(static_cast<double>(placed));
  publish(jobsByPhase_, phases, "trainyard_jobs", "TrainingJobs by phase.", "phase");
  publish(waitingByReason_, reasons, "trainyard_waiting_jobs", "TrainingJobs that wait, by reason.",
          "reason");
}

// Values that vanished become 0 instead of staying what they were.
void OperatorMetrics::publish(GaugesByLabel& gauges, const std::map<std::string, int>& counts,
                              std::string_view name, std::string_view help, const std::string& label) {
  for (const auto& [value, count] : counts) {
    if (!gauges.contains(value)) gauges.emplace(value, registry_.gauge(name, help, {{label, value}}));
  }
  for (const auto& [value, gauge] : gauges) {
    const auto found = counts.find(value);
    gauge.set(found == counts.end() ? 0 : found->second);
  }
}

void OperatorMetrics::noteTransition(const model::Job& before, const model::JobStatus& after,
                                     base::WallTime now) {
  const bool wasAborting =
      before.status.gang.proposal && before.status.gang.proposal->phase == model::ProposalPhase::kAborting;
  const bool isAborting =
      after.gang.proposal && after.gang.proposal->phase == model::ProposalPhase::kAborting;
  if (isAborting && !wasAborting) aborts_.increment();
  if (after.gang.placed && !before.status.gang.placed) {
    placementSeconds_.observe(std::chrono::duration<double>(now - before.created).count());
  }
  const bool ended = after.phase == "Succeeded" || after.phase == "Failed";
  if (!ended || before.status.phase == after.phase) return;
  registry_
      .counter("trainyard_jobs_finished_total", "TrainingJobs that ended, by outcome.",
               {{"outcome", after.phase}})
      .increment();
}

}  // namespace trainyard::operator_
