#include "operator/operator_metrics.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/gang.h"
#include "core/place/suspicion.h"
#include "model/conditions.h"
#include "model/names.h"

namespace trainyard::operator_ {
namespace {

double seconds(base::Instant::duration duration) { return std::chrono::duration<double>(duration).count(); }

telemetry::Counter delays(telemetry::MetricsRegistry& registry, const char* cause) {
  return registry.counter("trainyard_job_delay_seconds_total",
                          "What jobs have waited, in stretches that are over, by cause.", {{"cause", cause}});
}

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
      gpusPlaced_(registry.gauge("trainyard_gpus_placed", "GPUs of gangs that have their places.")),
      suspectedNodes_(registry.gauge("trainyard_suspected_nodes",
                                     "Nodes that are avoided because gangs failed there lately.")),
      fairShareDelay_(delays(registry, "FairShare")),
      fragmentationDelay_(delays(registry, "Fragmentation")) {}

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
  std::vector<std::shared_ptr<const model::Job>> accusing;
  for (const auto& node : snapshot.nodes) allocatable += node->allocatable.gpus();
  for (const auto& job : snapshot.jobs) {
    ++phases[job->status.phase.empty() ? "Pending" : job->status.phase];
    if (job->status.pending) ++reasons[std::string(model::toString(job->status.pending->reason))];
    if (job->status.gang.placed && !job->finished()) placed += job->status.gpus;
    if (core::accusesNode(*job)) accusing.push_back(job);
  }
  suspectedNodes_.set(
      static_cast<double>(core::suspectedNodes(accusing, snapshot.policy.failures, snapshot.now).size()));
  gpusAllocatable_.set(static_cast<double>(allocatable));
  gpusPlaced_.set(static_cast<double>(placed));
  publish(jobsByPhase_, phases, "trainyard_jobs", "TrainingJobs by phase.", "phase");
  publish(waitingByReason_, reasons, "trainyard_waiting_jobs", "TrainingJobs that wait, by reason.",
          "reason");
  describeQueues(snapshot);
}

void OperatorMetrics::describeQueues(const model::Snapshot& snapshot) {
  std::map<std::string, int> gpus;
  std::map<std::string, int> share;
  std::map<std::string, int> fairShare;
  std::map<std::string, int> waiting;
  std::map<std::string, int> admitted;
  const auto small = [](std::int64_t value) {
    return static_cast<int>(std::min<std::int64_t>(value, std::numeric_limits<int>::max()));
  };
  for (const auto& queue : snapshot.queues) {
    const model::QueueStatus& status = queue->status;
    gpus[queue->name.str()] =
        small(status.gpus ? status.gpus->used : status.usage.amount(model::names::kGpuResource));
    share[queue->name.str()] = small(status.share);
    fairShare[queue->name.str()] = small(status.fairShare);
    waiting[queue->name.str()] = status.waiting;
    admitted[queue->name.str()] = status.admitted;
  }
  publish(queueGpus_, gpus, "trainyard_queue_gpus", "GPUs that a queue and those below it hold.", "queue");
  publish(queueShare_, share, "trainyard_queue_share_permille",
          "What a queue holds of its dominant resource, in thousandths of the cluster.", "queue");
  publish(queueFairShare_, fairShare, "trainyard_queue_fair_share_permille",
          "What a queue is entitled to, in thousandths of the cluster.", "queue");
  publish(queueWaiting_, waiting, "trainyard_queue_waiting_jobs", "Jobs of a queue that wait for a place.",
          "queue");
  publish(queueAdmitted_, admitted, "trainyard_queue_admitted_jobs", "Jobs of a queue that have their place.",
          "queue");
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
  const auto longer = [](std::chrono::seconds was, std::chrono::seconds is) {
    return static_cast<double>(std::max(is - was, std::chrono::seconds(0)).count());
  };
  fairShareDelay_.increment(longer(before.status.delays.fairShare, after.delays.fairShare));
  fragmentationDelay_.increment(longer(before.status.delays.fragmentation, after.delays.fragmentation));
  if (after.gang.placed && !before.status.gang.placed) {
    placementSeconds_.observe(std::chrono::duration<double>(now - before.created).count());
  }
  noteResize(before, after);
  noteFailure(before.status, after, now);
  const bool ended = after.phase == "Succeeded" || after.phase == "Failed";
  if (!ended || before.status.phase == after.phase) return;
  registry_
      .counter("trainyard_jobs_finished_total", "TrainingJobs that ended, by outcome.",
               {{"outcome", after.phase}})
      .increment();
}

void OperatorMetrics::noteResize(const model::Job& before, const model::JobStatus& after) {
  const auto was = core::resizeUnderWay(before.spec, before.status.gang);
  const auto is = core::resizeUnderWay(before.spec, after.gang);
  if (!was) return;
  const auto aborts = [](const model::GangRecord& gang) {
    return gang.proposal && gang.proposal->phase == model::ProposalPhase::kAborting;
  };
  const bool failed = is && aborts(after.gang) && !aborts(before.status.gang);
  const bool done = !is && !aborts(before.status.gang) && after.gang.placed;
  if (!failed && !done) return;
  registry_
      .counter("trainyard_resizes_total",
               "Gangs that were to get another size, by direction, way and outcome.",
               {{"direction", was->to > was->from ? "Grow" : "Shrink"},
                {"way", was->anew ? "Restart" : "Live"},
                {"outcome", done ? "Resized" : "GivenUp"}})
      .increment();
}

// What the failed start had cost is lost at most: a checkpoint may have kept some of it.
void OperatorMetrics::noteFailure(const model::JobStatus& before, const model::JobStatus& after,
                                  base::WallTime now) {
  if (!after.lastFailure || after.lastFailure == before.lastFailure) return;
  const std::string failure(model::toString(after.lastFailure->failure));
  registry_
      .counter("trainyard_failures_total", "Gangs that failed, by class and by what was done about it.",
               {{"class", failure}, {"action", after.lastFailure->action}})
      .increment();
  const auto runs = std::find_if(before.conditions.begin(), before.conditions.end(), [](const auto& each) {
    return each.type == model::conditions::kRunning && each.status == model::ConditionStatus::kTrue;
  });
  if (runs == before.conditions.end()) return;
  const std::chrono::duration<double> ran =
      std::max(now - runs->lastTransition, base::WallTime::duration::zero());
  registry_
      .counter("trainyard_failed_gpu_seconds_total",
               "GPU time of the starts that failed, by class: lost but for what a checkpoint kept.",
               {{"class", failure}})
      .increment(ran.count() * static_cast<double>(before.gpus));
}

}  // namespace trainyard::operator_
