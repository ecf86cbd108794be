#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/cycle/admission.h"
#include "core/cycle/cycle_phases.h"
#include "core/cycle/user_scale.h"
#include "core/gang/gang_proposals.h"
#include "core/queues/holdings.h"
#include "core/resize.h"
#include "core/status/describe.h"
#include "model/charge.h"
#include "model/conditions.h"

namespace trainyard::core {

void Cycle::watchPlaced(const JobPtr& job) {
  if (job->recordUnwritten) return recordLost(job);
  if (job->spec.run.suspend) return stopForSuspension(job);
  const auto& placed = *job->status.gang.placed;
  const std::vector<Member> members = placedMembers(*job, placed, podsOf(*job));
  StatusUpdate update;
  update.where = placementText(job->status.gang);
  update.verdict = judge(*job, members);
  const bool ended =
      update.verdict.outcome == Outcome::kSucceeded || update.verdict.outcome == Outcome::kFailed;
  if (const auto preemptor = evictions_.find(job->key); preemptor != evictions_.end() && !ended) {
    if (const int gives = claimedOfElastic(*job, preemptor->second); gives > 0)
      return resize({.job = job,
                     .kind = ChangeKind::kShrink,
                     .remove = lastMembers(*job, gives),
                     .preemptor = preemptor->second},
                    model::SizeOwner::kPreemption);
    return evict(job, preemptor->second);
  }
  const std::optional<base::WallTime> deadline = deadlineOf(*job, input_.snapshot.now);
  if (deadline && input_.snapshot.now >= *deadline && update.verdict.outcome != Outcome::kSucceeded)
    return follow(job, endAtDeadline(*job, input_.snapshot.now));
  wakeAt(deadline);
  if (update.verdict.outcome == Outcome::kLost) return replaceLostMembers(job, members, update);
  if (update.verdict.outcome == Outcome::kFailed) return followFailed(job, members, update.verdict);
  if (update.verdict.outcome == Outcome::kRunning) {
    update.life = lifeOf(*job);
    if (update.life != nullptr && update.life->silentSince && job->spec.health.restartStalled)
      return follow(job, takeForRestart(*job, followStall(*job, members, *update.life->silentSince,
                                                          mayRestartNow(*job), placementScope(), author())));
  }
  JobDecision& decision = derive(job, job->status.gang, update);
  // Every member has its pod here, so there can be strays only if there are more pods than members.
  const bool strays = podsOf(*job).size() > members.size();
  if (strays) {
    Removal removal(ledger_, settings_, input_.snapshot.now);
    for (const model::Pod* stray : strayPods(*job, podsOf(*job))) removal.remove(*stray);
    finishRemoval(removal, decision);
  }
  if (update.verdict.outcome == Outcome::kRunning) {
    if (!strays && !job->recordUnwritten && !someEnded(*job) && requestsOtherSize(*job))
      return scaling_.push_back(job);
    if (job->recordUnwritten && isAboutToRun(*job, job->status.gang)) decision.urgency = Urgency::kSoon;
    reportSilence(*job, update, decision);
    if (!strays && *decision.status == job->status) settle(deadline);
    return;
  }
  decision.urgency = Urgency::kNow;
  decision.events.push_back({false, update.verdict.reason, update.verdict.message});
  endHoldings(job);
}

// A single-pod job that lost its bound pod before any record was written. The record of its placement is
// written first, so that the next attempt follows it.
void Cycle::recordLost(const JobPtr& job) {
  StatusUpdate update;
  update.where = placementText(job->status.gang);
  derive(job, job->status.gang, update).urgency = Urgency::kNow;
}

// Members ended with an error. The cause is collected first, because it decides what follows.
void Cycle::followFailed(const JobPtr& job, const std::vector<Member>& members, const Verdict& verdict) {
  if (pausesInPlace(*job)) return resumeFailed(job, members, verdict);
  const std::optional<Failure> checked = failedPreflight(verdict);
  if (!feedback_->failure && !checked) {
    add(job).actions.emplace_back(CollectEvidence{});
    return;
  }
  FailedGang gang = followFailure(*job, members, verdict, checked ? *checked : *feedback_->failure,
                                  mayRestartNow(*job), placementScope(), author());
  follow(job, takeForRestart(*job, std::move(gang)));
}

void Cycle::resumeFailed(const JobPtr& job, const std::vector<Member>& members, const Verdict& verdict) {
  StatusUpdate update;
  if (!holdingClaimed_.contains(job->key)) update.pending = backingOff(*job);
  if (update.pending) return write(job, job->status.gang, {}, update);
  follow(job, takeForRestart(*job, replaceAfterPause(*job, members, verdict, mayRestartNow(*job),
                                                     placementScope(), author())));
}

// Takes the gang's new nodes from the ledger if it restarts at once.
FailedGang Cycle::takeForRestart(const Job& job, FailedGang gang) {
  takeAndRecharge(job, gang.record, gang.assignments);
  if (!gang.assignments.empty())
    gang.update.where = describePlacement(gang.assignments, ledger_, input_.snapshot.policy.topology);
  return gang;
}

void Cycle::follow(const JobPtr& job, FailedGang gang) {
  if (gang.update.where.empty()) gang.update.where = placementText(gang.record);
  JobDecision& decision = derive(job, std::move(gang.record), gang.update);
  decision.urgency = Urgency::kNow;
  decision.events.push_back(std::move(gang.event));
  if (gang.update.verdict.outcome == Outcome::kFailed) endHoldings(job);
}

void Cycle::endHoldings(const JobPtr& job) {
  ended_.insert(job.get());
  queues_.endHoldings(*job, podsOf(*job));
}

// Reports the silence once, when it begins.
void Cycle::reportSilence(const Job& job, const StatusUpdate& update, JobDecision& decision) {
  const bool silent = update.life != nullptr && update.life->silentSince.has_value();
  if (!silent || job.conditionTrue(model::conditions::kStalled)) return;
  decision.urgency = Urgency::kNow;
  decision.events.push_back({true, "Stalled", silenceText(job, *update.life->silentSince)});
}

void Cycle::replaceLostMembers(const JobPtr& job, const std::vector<Member>& members, StatusUpdate update) {
  // An attempt to replace the members was given up: the others run on, and it is not repeated at once. The
  // pause does not apply if another gang waits for capacity that this one has to give up.
  if (!holdingClaimed_.contains(job->key)) update.pending = backingOff(*job);
  if (update.pending) {
    update.verdict = {};
    return write(job, job->status.gang, {}, update);
  }
  follow(job, takeForRestart(*job, followLoss(*job, members, update.verdict, mayRestartNow(*job),
                                              placementScope(), author())));
}

// Returns false if the gang's nodes are claimed for another gang, or if it may not get new pods.
bool Cycle::mayRestartNow(const Job& job) const {
  const bool promised = claimed_.contains(job.key) || holdingClaimed_.contains(job.key);
  return job.specError.empty() && !promised && mayGetNewPods(job, input_.snapshot, queues_);
}

PlacementScope Cycle::placementScope() {
  const bool usesOneType = !input_.snapshot.policy.mixGpuTypes;
  return {ledger_, cache_.domains(), queues_,
          usesOneType ? &cache_.schedule().gpuTypes(input_.snapshot) : nullptr};
}

// Takes new nodes for a gang, or some of its members. Their GPU types may be charged differently.
void Cycle::takeAndRecharge(const Job& job, const GangRecord& record,
                            const std::vector<model::Assignment>& assignments) {
  if (assignments.empty()) return;
  take(job, assignments);
  if (!queues_.dimensions().namesTypes()) return;
  Job after = job;
  after.status.gang = record;
  const QueueTree::Index queue = queues_.queueOf(job);
  const bool nonPreemptible = !model::chargedPreemptible(job);
  queues_.discharge(queue, holdingsOf(queues_.capacity(), job), nonPreemptible);
  queues_.charge(queue, holdingsOf(queues_.capacity(), after), nonPreemptible);
  Amounts leaving = leavingOf(queues_.capacity(), after, podsOf(job));
  const Amounts left = leavingOf(queues_.capacity(), job, podsOf(job));
  for (std::size_t d = 0; d < leaving.size(); ++d) leaving[d] -= left[d];
  queues_.chargeLeaving(queue, leaving);
}

void Cycle::take(const Job& job, const std::vector<model::Assignment>& assignments) {
  for (const model::Assignment& assignment : assignments) {
    const model::Role* role = job.spec.findRole(assignment.role);
    ledger_.take(*ledger_.find(assignment.node), role->shape.requests,
                 static_cast<int>(assignment.indices.size()), &job);
  }
}

// Returns how many of its last members the claim takes from an elastic gang: no record shows that yet. 0: the
// whole gang has to go, as the claim names other members or leaves less than the minimum.
int Cycle::claimedOfElastic(const Job& job, const model::ObjectKey& preemptor) {
  if (!givesMembers(job) || resizeMethod(job.spec) == ResizeMethod::kByRestart) return 0;
  const auto& victims = namedBy(preemptor);
  const int has = elasticMembers(job);
  int gives = 0;
  int first = has;
  for (const auto& pod : podsOf(job)) {
    if (!victims.contains(pod->uid)) continue;
    if (!pod->member || pod->member->role != job.spec.elastic->role) return 0;
    ++gives;
    first = std::min(first, pod->member->index);
  }
  return first == has - gives && first >= job.spec.elastic->minReplicas ? gives : 0;
}

bool Cycle::isOfOtherQueue(const model::ObjectKey& other, const Job& job) const {
  const auto& jobs = input_.snapshot.jobs;
  const auto at = std::lower_bound(jobs.begin(), jobs.end(), other,
                                   [](const JobPtr& each, const auto& key) { return each->key < key; });
  return at != jobs.end() && (*at)->key == other && queues_.queueOf(**at) != queues_.queueOf(job);
}

// Preempts the whole gang, because another gang's claim names its pods. The gang is then pending again.
void Cycle::evict(const JobPtr& job, const model::ObjectKey& preemptor) {
  StatusUpdate update;
  update.preemptedBy = preemptor;
  update.preemptedByOtherQueue = isOfOtherQueue(preemptor, *job);
  JobDecision& decision = derive(job, proposeEviction(*job, author()), update);
  decision.urgency = Urgency::kNow;
  decision.events.push_back({true, "Preempted", fmt::format("is preempted for {}; waits again", preemptor)});
}

}  // namespace trainyard::core
