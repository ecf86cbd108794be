#include "operator/operator_metrics.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/lifecycle/failure_class.h"
#include "core/search/suspicion.h"
#include "model/charge.h"
#include "model/conditions.h"
#include "model/names.h"

namespace trainyard::operator_ {
namespace {

double seconds(base::Instant::duration duration) { return std::chrono::duration<double>(duration).count(); }

telemetry::Counter delays(telemetry::MetricsRegistry& registry, const char* cause) {
  return registry.counter("trainyard_job_delay_seconds_total",
                          "Time for which jobs were pending, in waits that are over, by cause.",
                          {{"cause", cause}});
}

bool reportedLately(const model::Job& job, base::WallTime now) {
  constexpr std::chrono::minutes kLately{10};
  return job.status.progress && job.status.gang.placed && !job.finished() &&
         now - job.status.progress->at < kLately;
}

// True if the job ended because it would have failed the same way again, not because it hit its deadline.
bool endedForGood(const model::LastFailure& last) {
  return last.action == "Failed" && last.failure != model::FailureClass::kDeadlineExceeded &&
         core::defaultReaction(last.failure).action == model::FailureAction::kEndNow;
}

const std::vector<double> kCycleBounds = {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5};
const std::vector<double> kPlacementBounds = {0.1, 0.5, 1, 5, 10, 60, 300, 1'800, 7'200, 28'800, 86'400};
constexpr std::string_view kWaitSeconds = "trainyard_job_wait_seconds";
const std::vector<double> kPhaseBounds = {0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300};

telemetry::Histogram cyclePart(telemetry::MetricsRegistry& registry, const char* phase) {
  return registry.histogram(
      "trainyard_cycle_phase_duration_seconds",
      "Time of one scheduling cycle by phase: reading caches, planning, handing over the writes.",
      kCycleBounds, {{"phase", phase}});
}

std::string_view phaseName(model::ProposalPhase phase) {
  switch (phase) {
    case model::ProposalPhase::kClaiming: return "Claiming";
    case model::ProposalPhase::kReserved: return "Reserved";
    case model::ProposalPhase::kCreating: return "Creating";
    case model::ProposalPhase::kReleasing: return "Releasing";
    case model::ProposalPhase::kAborting: return "Aborting";
  }
  return "Unknown";
}

std::string_view kindName(model::ProposalKind kind) {
  switch (kind) {
    case model::ProposalKind::kStart: return "Start";
    case model::ProposalKind::kGrow: return "Grow";
    case model::ProposalKind::kShrink: return "Shrink";
    case model::ProposalKind::kMove: return "Move";
    case model::ProposalKind::kReplace: return "Replace";
    case model::ProposalKind::kRestart: return "Restart";
  }
  return "Unknown";
}

bool isTrue(const model::JobStatus& status, std::string_view type) {
  return std::any_of(status.conditions.begin(), status.conditions.end(), [&](const auto& each) {
    return each.type == type && each.status == model::ConditionStatus::kTrue;
  });
}

// A single-pod job is placed before its record is written: its pod stands for the record.
bool wasPlaced(const model::Job& job) { return job.status.gang.placed && !job.recordUnwritten; }

// Start of the current wait: a job that lost its placement waits again from then on.
base::WallTime waitsSince(const model::Job& job) {
  const auto queued =
      std::find_if(job.status.conditions.begin(), job.status.conditions.end(), [](const auto& each) {
        return each.type == model::conditions::kQueued && each.status == model::ConditionStatus::kTrue;
      });
  const bool again = job.status.service.updatedAt != base::WallTime{};
  return again && queued != job.status.conditions.end() ? queued->lastTransition : job.created;
}

double sinceEpoch(base::WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace

OperatorMetrics::OperatorMetrics(telemetry::MetricsRegistry& registry)
    : registry_(registry),
      leader_(registry.gauge("trainyard_leader", "1 while this replica leads.")),
      cycles_(registry.counter("trainyard_cycles_total", "Scheduling cycles run.")),
      cycleSeconds_(registry.histogram("trainyard_cycle_duration_seconds", "Time of one scheduling cycle.",
                                       kCycleBounds)),
      snapshotSeconds_(cyclePart(registry, "snapshot")),
      planSeconds_(cyclePart(registry, "plan")),
      applySeconds_(cyclePart(registry, "apply")),
      oldestProposal_(registry.gauge("trainyard_oldest_proposal_timestamp_seconds",
                                     "Start of the oldest change of a gang that is still in progress, in "
                                     "seconds since 1970; 0 without any.")),
      placementSeconds_(registry.histogram(
          "trainyard_job_placement_seconds",
          "Time from a TrainingJob's creation until its whole gang is bound for the first time.",
          kPlacementBounds)),
      aborts_(registry.counter("trainyard_gang_aborts_total", "Attempts to place a gang that were aborted.")),
      gpusAllocatable_(registry.gauge("trainyard_gpus_allocatable", "GPUs of all nodes.")),
      gpusPlaced_(registry.gauge("trainyard_gpus_placed", "GPUs of placed gangs.")),
      fairnessLoss_(registry.gauge("trainyard_fairness_loss_ratio",
                                   "Distance of queues from their fair shares: the sum of differences, as a "
                                   "part of its maximum, twice the cluster.")),
      suspectedNodes_(registry.gauge("trainyard_suspected_nodes",
                                     "Nodes that are avoided because gangs failed there recently.")),
      logReads_(registry.counter("trainyard_progress_reads_total",
                                 "Logs of running jobs that were read for progress reports.")),
      logReadErrors_(registry.counter("trainyard_progress_read_errors_total",
                                      "Logs of running jobs that could not be read.")),
      progressReports_(registry.counter("trainyard_progress_reports_total",
                                        "Reads of logs that found a new progress report.")),
      reportingJobs_(registry.gauge("trainyard_reporting_jobs",
                                    "Running jobs that have reported progress within ten minutes.")),
      stalledJobs_(registry.gauge(
          "trainyard_stalled_jobs",
          "Running jobs without a progress report or log line for longer than their spec allows.")),
      fairShareDelay_(delays(registry, "FairShare")),
      fragmentationDelay_(delays(registry, "Fragmentation")),
      resizes_(registry) {}

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

void OperatorMetrics::countLogRead(bool answered) {
  logReads_.increment();
  if (!answered) logReadErrors_.increment();
}

void OperatorMetrics::countReports() { progressReports_.increment(); }

void OperatorMetrics::noteCycle(const CycleParts& parts) {
  cycles_.increment();
  cycleSeconds_.observe(seconds(parts.snapshot + parts.plan + parts.apply));
  snapshotSeconds_.observe(seconds(parts.snapshot));
  planSeconds_.observe(seconds(parts.plan));
  applySeconds_.observe(seconds(parts.apply));
}

void OperatorMetrics::noteFairness(std::int64_t lossPermille) {
  fairnessLoss_.set(static_cast<double>(lossPermille) / 1000);
}

void OperatorMetrics::describe(const model::Snapshot& snapshot) {
  std::map<std::string, int> phases;
  std::map<std::string, int> reasons;
  std::int64_t allocatable = 0;
  std::int64_t placed = 0;
  int reporting = 0;
  int stalled = 0;
  std::vector<std::shared_ptr<const model::Job>> accusing;
  for (const auto& node : snapshot.nodes) allocatable += node->allocatable.gpus();
  for (const auto& job : snapshot.jobs) {
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
  publish(jobsByPhase_, phases, "trainyard_jobs", "TrainingJobs by phase.", "phase");
  publish(waitingByReason_, reasons, "trainyard_waiting_jobs", "Pending TrainingJobs, by reason.", "reason");
  resizes_.setShapeCosts(snapshot.policy.shapeCosts);
  describeProposals(snapshot);
  describeQueues(snapshot);
}

// The record has no start time of a change: its age counts from when this process first saw it.
void OperatorMetrics::describeProposals(const model::Snapshot& snapshot) {
  std::map<std::string, Underway, std::less<>> left;
  std::optional<base::WallTime> oldest;
  for (const auto& job : snapshot.jobs) {
    const auto& proposal = job->status.gang.proposal;
    if (!proposal || job->recordUnwritten) continue;
    const auto known = underway_.find(job->uid.str());
    const bool same = known != underway_.end() && known->second.id == proposal->id;
    const Underway& now = left.emplace(job->uid.str(), same ? known->second
                                                            : Underway{proposal->id, proposal->phase,
                                                                       snapshot.now, snapshot.now})
                              .first->second;
    oldest = oldest ? std::min(*oldest, now.began) : now.began;
  }
  underway_ = std::move(left);
  oldestProposal_.set(oldest ? sinceEpoch(*oldest) : 0);
}

void OperatorMetrics::describeQueues(const model::Snapshot& snapshot) {
  std::map<std::string, double> gpus;
  std::map<std::string, double> share;
  std::map<std::string, double> fairShare;
  std::map<std::string, double> waiting;
  std::map<std::string, double> placed;
  std::map<std::string, double> deficit;
  std::map<std::string, double> oldest;
  for (const auto& queue : snapshot.queues) {
    const model::QueueStatus& status = queue->status;
    const std::string& name = queue->name.str();
    const auto used = status.gpus ? status.gpus->used : status.usage.amount(model::names::kGpuResource);
    gpus[name] = static_cast<double>(used);
    share[name] = static_cast<double>(status.share) / 1000;
    fairShare[name] = static_cast<double>(status.fairShare) / 1000;
    waiting[name] = status.waiting;
    placed[name] = status.placed;
    // A queue without pending jobs has no deficit.
    const auto guaranteed = status.gpus ? status.gpus->guaranteed : 0;
    deficit[name] =
        status.waiting > 0 ? static_cast<double>(std::max<std::int64_t>(guaranteed - used, 0)) : 0;
    oldest[name] = 0;
  }
  for (const auto& job : snapshot.jobs) {
    if (!job->status.pending || job->finished() || job->spec.run.suspend) continue;
    const auto found = oldest.find(model::shownQueue(*job).str());
    if (found == oldest.end()) continue;
    const double since = sinceEpoch(waitsSince(*job));
    found->second = found->second == 0 ? since : std::min(found->second, since);
  }
  publishQueues(queueGpus_, gpus, "trainyard_queue_gpus", "GPUs that a queue and those below it hold.");
  publishQueues(queueShare_, share, "trainyard_queue_share_ratio",
                "Share of the cluster that a queue holds of its dominant resource.");
  publishQueues(queueFairShare_, fairShare, "trainyard_queue_fair_share_ratio",
                "Fair share of a queue, as a part of the cluster.");
  publishQueues(queueWaiting_, waiting, "trainyard_queue_waiting_jobs",
                "Pending jobs of a queue and of those below it.");
  publishQueues(queuePlaced_, placed, "trainyard_queue_placed_jobs",
                "Placed jobs of a queue and of those below it.");
  publishQueues(queueDeficit_, deficit, "trainyard_queue_guarantee_deficit_gpus",
                "GPUs that a queue is guaranteed and does not hold while its jobs are pending.");
  publishQueues(
      queueOldest_, oldest, "trainyard_queue_oldest_waiting_timestamp_seconds",
      "Since when the longest pending job of a queue is pending, in seconds since 1970; 0 without any.");
  forgetQueues(snapshot);
}

void OperatorMetrics::forgetQueues(const model::Snapshot& snapshot) {
  for (auto each = queueWaits_.begin(); each != queueWaits_.end();) {
    // `default` need not exist as an object.
    const bool exists = each->first == model::names::kDefaultQueue ||
                        std::any_of(snapshot.queues.begin(), snapshot.queues.end(),
                                    [&](const auto& queue) { return queue->name.str() == each->first; });
    if (exists) {
      ++each;
      continue;
    }
    registry_.remove(kWaitSeconds, {{"queue", each->first}}, each->second);
    each = queueWaits_.erase(each);
  }
}

void OperatorMetrics::publishQueues(GaugesByLabel& gauges, const std::map<std::string, double>& values,
                                    std::string_view name, std::string_view help) {
  // Removes old series first, so that the limit on series does not lock out new ones.
  for (auto each = gauges.begin(); each != gauges.end();) {
    if (values.contains(each->first)) {
      ++each;
      continue;
    }
    registry_.remove(name, {{"queue", each->first}}, each->second);
    each = gauges.erase(each);
  }
  for (const auto& [queue, value] : values) {
    auto found = gauges.find(queue);
    if (found == gauges.end())
      found = gauges.emplace(queue, registry_.gauge(name, help, {{"queue", queue}})).first;
    found->second.set(value);
  }
}

// Sets labels without a value to 0, so that they do not keep their last one.
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
  resizes_.note(before, after);
  notePlacement(before, after, now);
  noteProposal(before, after, now);
  noteStop(before.status, after);
  noteFailure(before.status, after, now);
  const bool ended = after.phase == "Succeeded" || after.phase == "Failed";
  if (!ended || before.status.phase == after.phase) return;
  registry_
      .counter("trainyard_jobs_finished_total", "TrainingJobs that ended, by outcome.",
               {{"outcome", after.phase}})
      .increment();
}

void OperatorMetrics::notePlacement(const model::Job& before, const model::JobStatus& after,
                                    base::WallTime now) {
  if (!after.gang.placed || wasPlaced(before)) return;
  // The status of a single-pod job may be written later than the job was placed.
  const base::WallTime placed = before.recordUnwritten ? after.service.updatedAt : now;
  const auto waited = [&](base::WallTime since) {
    return std::chrono::duration<double>(std::max(placed - since, base::WallTime::duration::zero())).count();
  };
  const std::string& queue = before.spec.queue.str();
  auto found = queueWaits_.find(queue);
  if (found == queueWaits_.end()) {
    found = queueWaits_
                .emplace(queue, registry_.histogram(
                                    kWaitSeconds,
                                    "How long jobs of a queue were pending, each time that one was placed.",
                                    kPlacementBounds, {{"queue", queue}}))
                .first;
  }
  found->second.observe(waited(waitsSince(before)));
  // A job that was placed before has service.updatedAt, even after less than a second of service.
  if (before.status.service.updatedAt == base::WallTime{}) placementSeconds_.observe(waited(before.created));
}

void OperatorMetrics::noteProposal(const model::Job& before, const model::JobStatus& after,
                                   base::WallTime now) {
  const std::string& uid = before.uid.str();
  const auto& proposal = after.gang.proposal;
  auto known = underway_.find(uid);
  const auto leavePhase = [&] {
    registry_
        .histogram("trainyard_gang_phase_duration_seconds",
                   "How long a change of a gang stayed in each phase of the protocol.", kPhaseBounds,
                   {{"phase", std::string(phaseName(known->second.phase))}})
        .observe(std::chrono::duration<double>(now - known->second.inPhase).count());
  };
  if (known != underway_.end() && (!proposal || proposal->id != known->second.id)) {
    leavePhase();
    underway_.erase(known);
    known = underway_.end();
  }
  if (!proposal) return;
  if (known == underway_.end()) {
    underway_.emplace(uid, Underway{proposal->id, proposal->phase, now, now});
    const auto& was = before.status.gang.proposal;
    if (was && was->id == proposal->id) return;  // begun by an earlier leader
    registry_
        .counter("trainyard_gang_changes_total", "Changes of gangs that were started, by kind.",
                 {{"kind", std::string(kindName(proposal->kind))}})
        .increment();
    return;
  }
  if (known->second.phase == proposal->phase) return;
  leavePhase();
  known->second.phase = proposal->phase;
  known->second.inPhase = now;
}

void OperatorMetrics::noteStop(const model::JobStatus& before, const model::JobStatus& after) {
  const auto count = [this](const char* cause) {
    registry_
        .counter("trainyard_gang_stops_total",
                 "Gangs that were stopped before their end, by cause: Preempted (waits again), Moved "
                 "(restarts elsewhere at once), Suspended, Failed (restarts).",
                 {{"cause", cause}})
        .increment();
  };
  const bool isPreempted = after.preemptions.count > before.preemptions.count;
  const bool moves = before.gang.proposal && before.gang.proposal->movesFor;
  if (isPreempted) return count(moves ? "Moved" : "Preempted");
  if (before.gang.placed && isTrue(after, model::conditions::kSuspended) &&
      !isTrue(before, model::conditions::kSuspended)) {
    return count("Suspended");
  }
  std::size_t restarts = 0;
  for (const auto& [failure, times] : after.restarts.byClass) restarts += static_cast<std::size_t>(times);
  for (const auto& [failure, times] : before.restarts.byClass) restarts -= static_cast<std::size_t>(times);
  if (restarts > 0) count("Failed");
}

// The cost of the failed start is an upper bound: a checkpoint may have kept some of it.
void OperatorMetrics::noteFailure(const model::JobStatus& before, const model::JobStatus& after,
                                  base::WallTime now) {
  if (!after.lastFailure || after.lastFailure == before.lastFailure) return;
  const std::string failure(model::toString(after.lastFailure->failure));
  registry_
      .counter("trainyard_failures_total", "Gangs that failed, by class and action.",
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
               "GPU time of the runs that failed, by class: lost except for what a checkpoint kept.",
               {{"class", failure}})
      .increment(ran.count() * static_cast<double>(before.gpus));
  if (!endedForGood(*after.lastFailure)) return;
  registry_
      .counter("trainyard_saved_gpu_seconds_total",
               "GPU time saved by not repeating runs that would have failed again, by class: as much as the "
               "failed run used.",
               {{"class", failure}})
      .increment(ran.count() * static_cast<double>(before.gpus));
}

}  // namespace trainyard::operator_
