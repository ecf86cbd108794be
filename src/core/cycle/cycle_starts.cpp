#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/cycle/cycle_phases.h"
#include "core/gang/gang_proposals.h"
#include "core/gang/gang_resize.h"
#include "core/preemption/claims.h"
#include "core/queues/holdings.h"
#include "core/queues/namespaces.h"
#include "core/queues/priority.h"
#include "core/resize.h"
#include "core/status/describe.h"
#include "core/status/resize_status.h"
#include "model/charge.h"
#include "model/gang_size.h"
#include "model/message_text.h"
#include "model/names.h"

namespace trainyard::core {

// Returns true if the job waits for capacity that others hold, and so may have to preempt them.
bool Cycle::waitsForCapacity(const GangWait& wait) {
  if (wait.behindStarting || wait.pending == nullptr) return false;
  return wait.pending->reason == model::PendingReason::kWaitingForCapacity ||
         wait.pending->reason == model::PendingReason::kWaitingForTopology;
}

void Cycle::placePending() {
  planNext();
  countStarting();
  countClaims();
  Schedule schedule = core::schedule({.snapshot = input_.snapshot,
                                      .ledger = ledger_,
                                      .domains = cache_.domains(),
                                      .queues = queues_,
                                      .cache = cache_.schedule(),
                                      .reservedSince = cache_.reservedSince(),
                                      .waiting = std::move(waiting_),
                                      .changing = changing_,
                                      .startingMembers = starting_,
                                      .maxStartingMembers = input_.settings.startingMembers});
  std::vector<Change> victimChanges;  // for the next start
  for (Change& change : schedule.changes) {
    const bool resizes = change.kind == ChangeKind::kGrow || change.kind == ChangeKind::kShrink;
    if (resizes && !change.preemptor) {
      if (!someEnded(*change.job)) resize(change, model::SizeOwner::kCluster);
      changedInPlan_.insert(change.job->key);
      continue;
    }
    if (change.kind != ChangeKind::kStart) {
      victimChanges.push_back(std::move(change));
      continue;
    }
    if (!change.silent) begin(change, victimChanges);
    victimChanges.clear();
  }
  for (const GangWait& wait : schedule.waits) {
    plan_.capacityWanted = plan_.capacityWanted || waitsForCapacity(wait);
    if (wait.silent || isReported(wait) || timedOut(wait)) continue;
    if (wait.behindStarting) {
      explainStarting(wait);
    } else {
      explain(wait);
    }
  }
  for (const GangYield& yield : schedule.yields) yieldClaim(yield);
  scale(schedule);
  plan_.queues = std::move(schedule.queues);
  plan_.sizes = schedule.sizes;
  plan_.fairnessLossPermille = schedule.fairnessLossPermille;
  wakeAt(schedule.wakeAt);
}

void Cycle::countStarting() {
  for (const JobPtr& job : cache_.notes().proposing()) {
    const model::Proposal& proposal = *job->status.gang.proposal;
    const bool boundAlready = job->recordUnwritten && !podsOf(*job).empty() && podsOf(*job).front()->bound();
    if (proposal.phase == model::ProposalPhase::kReserved && !boundAlready)
      starting_[job->key.ns] += memberCount(proposal.add);
  }
}

// What a claim takes counts as given up from the claim's record on, as in the cycle that made it. Until the
// victims' records show it, it would count twice, and their queue would seem to have more to give.
void Cycle::countClaims() {
  std::map<model::ObjectKey, std::vector<model::ObjectKey>> takes;
  for (const auto& [gang, preemptor] : claimed_) takes[preemptor].push_back(gang);
  if (takes.empty()) return;
  const auto& jobs = input_.snapshot.jobs;
  const auto find = [&](const model::ObjectKey& key) -> const JobPtr* {
    const auto at = std::lower_bound(jobs.begin(), jobs.end(), key,
                                     [](const JobPtr& job, const auto& wanted) { return job->key < wanted; });
    return at != jobs.end() && (*at)->key == key ? &*at : nullptr;
  };
  for (const auto& [key, gangs] : takes) {
    const JobPtr* preemptor = find(key);
    const auto& proposal = (*preemptor)->status.gang.proposal;
    if (proposal->phase != model::ProposalPhase::kClaiming) continue;
    std::vector<PendingRelease> leaving;
    for (const model::ObjectKey& gang : gangs) {
      if (const JobPtr* job = find(gang)) leaving.push_back(pendingReleaseOf(*job, **preemptor));
    }
    countOnce(queues_, queues_.queueOf(**preemptor), holdingsOf(queues_.capacity(), **preemptor), leaving);
  }
}

// Returns what the claim takes from the job. From now on that is charged as leaving.
PendingRelease Cycle::pendingReleaseOf(const JobPtr& job, const Job& preemptor) {
  const GangRecord& gang = job->status.gang;
  PendingRelease leaves{queues_.queueOf(*job), {}};
  if (gang.placed && !gang.proposal && !job->finished() && !ended_.contains(job.get())) {
    const int gives = claimedOfElastic(*job, preemptor.key);
    leaves.amounts =
        heldBy(queues_.capacity(), *job, gives > 0 ? lastMembers(*job, gives) : gang.placed->assignments);
    queues_.markLeaving(leaves.queue, leaves.amounts);
    return leaves;
  }
  JobPods named;
  const auto& victims = namedBy(preemptor.key);
  for (const auto& pod : podsOf(*job)) {
    if (victims.contains(pod->uid)) named.push_back(pod);
  }
  leaves.amounts = heldBy(queues_.capacity(), named);
  if (ended_.contains(job.get())) return leaves;
  const Amounts charged = leavingOf(queues_.capacity(), *job, podsOf(*job));
  for (std::size_t d = 0; d < charged.size(); ++d)
    leaves.amounts[d] = std::min(leaves.amounts[d], charged[d]);
  return leaves;
}

// Returns the victims of the preemptor's claim, as a set: claims and gangs may have thousands of pods.
const std::unordered_set<model::Uid>& Cycle::namedBy(const model::ObjectKey& preemptor) {
  const auto [known, isNew] = named_.try_emplace(preemptor);
  if (!isNew) return known->second;
  const auto& jobs = input_.snapshot.jobs;
  const auto at = std::lower_bound(jobs.begin(), jobs.end(), preemptor,
                                   [](const JobPtr& each, const auto& key) { return each->key < key; });
  if (at != jobs.end() && (*at)->key == preemptor && (*at)->status.gang.proposal) {
    for (const model::Victim& each : (*at)->status.gang.proposal->victims) known->second.insert(each.uid);
  }
  return known->second;
}

void Cycle::begin(Change& start, const std::vector<Change>& victimChanges) {
  std::vector<JobPtr> gone;
  std::vector<model::Victim> victims;
  for (const Change& each : victimChanges) {
    gone.push_back(each.job);
    changedInPlan_.insert(each.job->key);
    for (model::Victim& victim : victimsOf(each)) victims.push_back(std::move(victim));
  }
  const std::chrono::seconds longest = longestGrace(gone, start.strays);
  std::move(start.strays.begin(), start.strays.end(), std::back_inserter(victims));
  const bool claims = !victims.empty();
  StatusUpdate update;
  update.where = describePlacement(start.add.assignments, ledger_, input_.snapshot.policy.topology);
  GangRecord record = propose(*start.job, model::ProposalKind::kStart, std::move(start.add.assignments), {},
                              std::move(victims), author());
  record.charge = model::makeCharge(start.job->spec, queues_.requestedQueueOf(*start.job),
                                    Priorities(input_.snapshot).of(*start.job));
  record.charge->ancestors = ancestorsOf(record.charge->queue, input_.snapshot);
  record.charge->backfilled = std::move(start.backfilled);
  record.proposal->deadline += longest;
  JobDecision& decision = derive(start.job, record, update);
  decision.urgency = Urgency::kNow;
  recordStartSize(*start.job, record, decision.status->resize);
  warnOfCappedGrace(*start.job, decision);
  if (!claims) return startAlone(decision);
  if (gone.empty()) return;
  decision.events.push_back(
      {false, "Preempting",
       fmt::format("{} to free capacity, once its own pods exist", describe(victimChanges))});
  for (const Change& each : victimChanges) {
    if (each.kind == ChangeKind::kMove) move(each);
    if (each.kind == ChangeKind::kShrink) resize(each, model::SizeOwner::kPreemption);
  }
}

// Returns the pods that are evicted for a start. A gang that shrinks and runs on loses only those members.
std::vector<model::Victim> Cycle::victimsOf(const Change& victimChange) const {
  std::vector<model::Victim> victims = victimPods({victimChange.job}, ledger_.pods());
  if (victimChange.kind != ChangeKind::kShrink ||
      resizeMethod(victimChange.job->spec) == ResizeMethod::kByRestart)
    return victims;
  std::set<model::ObjectKey> leave;
  for (const model::Assignment& each : victimChange.remove) {
    for (const int index : each.indices.values())
      leave.insert({victimChange.job->key.ns, model::podName(victimChange.job->key.name, each.role, index)});
  }
  std::erase_if(victims, [&](const model::Victim& victim) { return !leave.contains(victim.pod); });
  return victims;
}

// "preempts ml/a and ml/b and shrinks ml/c".
std::string Cycle::describe(const std::vector<Change>& victimChanges) {
  std::vector<std::string> words;
  for (const auto& [kind, verb] :
       {std::pair(ChangeKind::kPreempt, "preempts"), std::pair(ChangeKind::kMove, "moves"),
        std::pair(ChangeKind::kShrink, "shrinks")}) {
    std::vector<JobPtr> jobs;
    for (const Change& each : victimChanges) {
      if (each.kind == kind) jobs.push_back(each.job);
    }
    if (!jobs.empty()) words.push_back(fmt::format("{} {}", verb, namesOf(jobs)));
  }
  return model::joinList(words);
}

// A single-pod job needs no record before its pod, because the pod's name can be taken only once.
void Cycle::startAlone(JobDecision& decision) const {
  const model::Proposal& start = *decision.status->gang.proposal;
  // The pod alone does not show the size of a gang that could be larger.
  const auto& elastic = decision.job->spec.elastic;
  const bool mayGrow = elastic && elastic->maxReplicas > 1;
  // Nor does the pod show the condition of its backfill.
  if (!decision.status->gang.charge->backfilled.empty()) return;
  if (mayGrow || memberCount(start.add) != 1 || model::gangMembers(*decision.job) != 1) return;
  decision.podIsRecord = true;
  decision.actions.emplace_back(CreateMember{start.add.front().role,
                                             start.add.front().indices.values().front(), start.epoch,
                                             start.add.front().node});
}

// Returns the longest time that the victims have to end. The claim is not given up before it has passed.
std::chrono::seconds Cycle::longestGrace(const std::vector<JobPtr>& victims,
                                         const std::vector<model::Victim>& strays) const {
  std::chrono::seconds longest{0};
  for (const JobPtr& victim : victims) {
    if (victim->spec.elastic) longest = std::max(longest, timeToLeave(victim->spec, settings_));
    for (const auto& pod : podsOf(*victim)) longest = std::max(longest, Removal::graceOf(*pod, settings_));
  }
  for (const model::Victim& each : strays) {
    const model::Pod* pod = findVictim(input_.snapshot.pods, each);
    if (pod == nullptr || !pod->deletionTime) continue;
    const auto left = *pod->deletionTime - input_.snapshot.now;
    longest = std::max(longest, std::chrono::ceil<std::chrono::seconds>(left));
  }
  return longest;
}

// Warns, before it matters, that a pod's grace period is longer than the policy allows.
void Cycle::warnOfCappedGrace(const Job& job, JobDecision& decision) const {
  for (const model::Role& role : job.spec.roles) {
    if (role.grace <= settings_.maxGrace) continue;
    decision.events.push_back(
        {true, "GraceCapped",
         fmt::format("pods of role {} ask for {} s to end; when they are evicted they get {} s, the maximum "
                     "of the cluster's policy (preemption.maxGrace)",
                     role.name, role.grace.count(), settings_.maxGrace.count())});
  }
}

// Records the number of members that an elastic gang starts with.
void Cycle::recordStartSize(const Job& job, const GangRecord& record, model::ResizeStatus& status) const {
  if (!job.spec.elastic) return;
  const int members = model::gangMembers(job.spec, record, *job.spec.findRole(job.spec.elastic->role));
  status.cooldownUntil.reset();
  status.decidedBy = model::SizeOwner::kSpec;
  status.desired.reset();
  status.message.clear();
  if (members == desiredMembers(job)) return;
  status.desired = members;
  status.decidedBy = model::SizeOwner::kCluster;
  status.message = fmt::format("not all {} fit when it started", desiredMembers(job));
}

// The gang has its new nodes from the same plan on. If its last write is still under way, the claim preempts
// it later instead, and the gang is pending again.
void Cycle::move(const Change& change) {
  const auto feedbackAt = input_.feedback.find(change.job->key);
  if (feedbackAt != input_.feedback.end() && feedbackAt->second.busy) return;
  std::erase_if(plan_.decisions, [&](const JobDecision& decision) { return decision.job == change.job; });
  StatusUpdate update;
  update.where = placementText(change.job->status.gang);
  derive(change.job, proposeMove(*change.job, change.add.assignments, *change.preemptor, author()), update)
      .urgency = Urgency::kNow;
}

// Aborts the gang's proposal, in place of the step that the proposal would take.
void Cycle::yieldClaim(const GangYield& yield) {
  const auto feedbackAt = input_.feedback.find(yield.job->key);
  if (feedbackAt != input_.feedback.end() && feedbackAt->second.busy) return;
  std::erase_if(plan_.decisions, [&](const JobDecision& decision) { return decision.job == yield.job; });
  derive(yield.job,
         abortProposal(*yield.job, fmt::format("yields its capacity to {}", yield.to), {},
                       input_.snapshot.now, settings_),
         {})
      .urgency = Urgency::kNow;
}

}  // namespace trainyard::core
