#include "core/cycle/start_step.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

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
namespace {

// "preempts ml/a and ml/b and shrinks ml/c".
std::string describe(const std::vector<Change>& victimChanges) {
  std::vector<std::string> words;
  for (const auto& [kind, verb] :
       {std::pair(ChangeKind::kPreempt, "preempts"), std::pair(ChangeKind::kMove, "moves"),
        std::pair(ChangeKind::kShrink, "shrinks")}) {
    std::vector<StartStep::JobPtr> jobs;
    for (const Change& each : victimChanges) {
      if (each.kind == kind) jobs.push_back(each.job);
    }
    if (!jobs.empty()) words.push_back(fmt::format("{} {}", verb, namesOf(jobs)));
  }
  return model::joinList(words);
}

// Records the number of members that an elastic gang starts with.
void recordStartSize(const model::Job& job, const model::GangRecord& record, model::ResizeStatus& status) {
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

}  // namespace

std::set<model::ObjectKey> StartStep::carryOut(std::vector<Change> changes) {
  std::set<model::ObjectKey> changed;
  std::vector<Change> victimChanges;  // for the next start
  for (Change& change : changes) {
    const bool resizes = change.kind == ChangeKind::kGrow || change.kind == ChangeKind::kShrink;
    if (resizes && !change.preemptor) {
      if (!someEnded(*change.job, in_.podsOf(*change.job))) sizes_.resize(change, model::SizeOwner::kCluster);
      changed.insert(change.job->key);
      continue;
    }
    if (change.kind != ChangeKind::kStart) {
      victimChanges.push_back(std::move(change));
      continue;
    }
    if (!change.silent) {
      for (const Change& each : victimChanges) changed.insert(each.job->key);
      begin(change, victimChanges);
    }
    victimChanges.clear();
  }
  return changed;
}

void StartStep::begin(Change& start, const std::vector<Change>& victimChanges) {
  std::vector<model::Victim> victims;
  for (const Change& each : victimChanges) {
    for (model::Victim& victim : victimsOf(each)) victims.push_back(std::move(victim));
  }
  const std::chrono::seconds longest = longestGrace(victimChanges, start.awaited);
  std::move(start.awaited.begin(), start.awaited.end(), std::back_inserter(victims));
  const bool claims = !victims.empty();
  StatusUpdate update;
  update.where = describePlacement(start.add.assignments, in_.ledger, in_.input.snapshot.policy.topology);
  model::GangRecord record = propose(*start.job, model::ProposalKind::kStart,
                                     std::move(start.add.assignments), {}, std::move(victims), in_.author());
  record.charge = model::makeCharge(start.job->spec, in_.queues.requestedQueueOf(*start.job),
                                    Priorities(in_.input.snapshot).of(*start.job));
  record.charge->ancestors = ancestorsOf(record.charge->queue, in_.input.snapshot);
  record.charge->backfilled = std::move(start.backfilled);
  record.proposal->deadline += longest;
  JobDecision& decision = decisions_.derive(start.job, record, update);
  decision.urgency = Urgency::kNow;
  recordStartSize(*start.job, record, decision.status->resize);
  warnOfCappedGrace(*start.job, decision);
  if (!claims) return startAlone(decision);
  if (victimChanges.empty()) return;
  decision.events.push_back(
      {false, "Preempting",
       fmt::format("{} to free capacity, once its own pods exist", describe(victimChanges))});
  for (const Change& each : victimChanges) {
    if (each.kind == ChangeKind::kMove) move(each);
    if (each.kind == ChangeKind::kShrink) sizes_.resize(each, model::SizeOwner::kPreemption);
  }
}

// Returns the pods that are evicted for a start. A gang that shrinks and runs on loses only those members.
std::vector<model::Victim> StartStep::victimsOf(const Change& victimChange) const {
  std::vector<model::Victim> victims = victimPods({victimChange.job}, in_.ledger.pods());
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

// A single-pod job needs no record before its pod, because the pod's name can be taken only once.
void StartStep::startAlone(JobDecision& decision) const {
  const model::Proposal& start = *decision.status->gang.proposal;
  // The pod alone does not show the size of a gang that could be larger.
  const auto& elastic = decision.job->spec.elastic;
  const bool mayGrow = elastic && elastic->maxReplicas > 1;
  // Nor does the pod show the condition of its backfill.
  if (!decision.status->gang.charge->backfilled.empty()) return;
  if (mayGrow || memberCount(start.add) != 1 || !model::isSinglePod(*decision.job)) return;
  decision.podIsRecord = true;
  decision.actions.emplace_back(CreateMember{start.add.front().role,
                                             start.add.front().indices.values().front(), start.epoch,
                                             start.add.front().node});
}

// Returns the longest time that the victims have to end. The claim is not given up before it has passed.
std::chrono::seconds StartStep::longestGrace(const std::vector<Change>& victimChanges,
                                             const std::vector<model::Victim>& awaited) const {
  std::chrono::seconds longest{0};
  for (const Change& each : victimChanges) {
    const model::Job& victim = *each.job;
    if (victim.spec.elastic) longest = std::max(longest, timeToLeave(victim.spec, in_.settings));
    for (const auto& pod : in_.podsOf(victim))
      longest = std::max(longest, Removal::graceOf(*pod, in_.settings));
  }
  for (const model::Victim& each : awaited) {
    const model::Pod* pod = findVictim(in_.input.snapshot.pods, each);
    if (pod == nullptr || !pod->deletionTime) continue;
    const auto left = *pod->deletionTime - in_.input.snapshot.now;
    // A deletion by a user may ask for any time; it is cut to maxGrace.
    longest =
        std::max(longest, std::min(std::chrono::ceil<std::chrono::seconds>(left), in_.settings.maxGrace));
  }
  return longest;
}

// Warns, before it matters, that a pod's grace period is longer than the policy allows.
void StartStep::warnOfCappedGrace(const model::Job& job, JobDecision& decision) const {
  for (const model::Role& role : job.spec.roles) {
    if (role.grace <= in_.settings.maxGrace) continue;
    decision.events.push_back(
        {true, "GraceCapped",
         fmt::format("pods of role {} ask for {} s to end; when they are evicted they get {} s, the maximum "
                     "of the cluster's policy (preemption.maxGrace)",
                     role.name, role.grace.count(), in_.settings.maxGrace.count())});
  }
}

// The gang has its new nodes from the same plan on. If its last write is still under way, the claim preempts
// it later instead, and the gang is pending again.
void StartStep::move(const Change& change) {
  if (!decisions_.replace(change.job)) return;
  StatusUpdate update;
  update.where = decisions_.placementText(change.job->status.gang);
  decisions_
      .derive(change.job, proposeMove(*change.job, change.add.assignments, *change.preemptor, in_.author()),
              update)
      .urgency = Urgency::kNow;
}

void StartStep::yieldClaim(const GangYield& yield) {
  if (!decisions_.replace(yield.job)) return;
  decisions_
      .derive(yield.job,
              abortProposal(*yield.job, fmt::format("yields its capacity to {}", yield.to), {},
                            in_.input.snapshot.now, in_.settings),
              {})
      .urgency = Urgency::kNow;
}

}  // namespace trainyard::core
