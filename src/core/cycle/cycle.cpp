#include "core/cycle/cycle.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/cycle/admission.h"
#include "core/cycle/cycle_phases.h"
#include "core/gang/gang_proposals.h"
#include "core/gang/orphans.h"
#include "core/gang/victim_assignment.h"
#include "core/preemption/claims.h"
#include "core/queues/eligibility.h"
#include "core/queues/holdings.h"
#include "core/queues/namespaces.h"
#include "model/conditions.h"
#include "model/managed_by.h"

namespace trainyard::core {
namespace {

// Returns the members of a running or starting gang if its record keeps all of them; else null.
const std::vector<model::Assignment>* keptMembers(const model::GangRecord& gang) {
  if (!gang.proposal) return gang.placed ? &gang.placed->assignments : nullptr;
  return gang.placed || !gang.proposal->remove.empty() ? nullptr : &gang.proposal->add;
}

// Returns the nodes that the job's proposal assigns.
std::vector<model::Assignment> assignedNodesOf(const model::ObjectKey& key, const model::Snapshot& snapshot) {
  const auto at = std::lower_bound(snapshot.jobs.begin(), snapshot.jobs.end(), key,
                                   [](const auto& job, const auto& wanted) { return job->key < wanted; });
  if (at == snapshot.jobs.end() || (*at)->key != key || !(*at)->status.gang.proposal) return {};
  return (*at)->status.gang.proposal->add;
}

bool sharesNode(const std::vector<model::Assignment>& a, const std::vector<model::Assignment>& b) {
  return std::any_of(a.begin(), a.end(), [&](const model::Assignment& one) {
    return std::any_of(b.begin(), b.end(),
                       [&](const model::Assignment& other) { return one.node == other.node; });
  });
}

}  // namespace

Cycle::Cycle(const CycleInput& input, CycleCache& cache)
    : input_(input),
      settings_(input.settings),
      cache_(cache),
      ledger_(cache.ledger()),
      queues_(input.snapshot, cache.queues()) {
  settings_.maxGrace = input.snapshot.policy.preemption.maxGrace;
  settings_.unreachableGrace = input.snapshot.policy.unreachableGrace;
}

Plan Cycle::run() {
  cache_.begin(input_.snapshot);
  evictions_ = claimedGangs(standingClaims(), input_.snapshot.pods);
  claimed_ = claimedGangs(claims(), input_.snapshot.pods);
  holdingClaimed_ = gangsHoldingClaimed();
  decideAll();
  placePending();
  plan_.orphans = sweepOrphans(input_.snapshot, settings_);
  dropEmptyDecisions();
  cache_.end(input_.snapshot.jobs.size());
  return std::move(plan_);
}

std::vector<Cycle::JobPtr> Cycle::claims() const {
  std::vector<JobPtr> claims = cache_.notes().proposing();
  std::erase_if(claims, [](const JobPtr& job) {
    const model::Proposal& proposal = *job->status.gang.proposal;
    return proposal.victims.empty() || proposal.phase == model::ProposalPhase::kAborting;
  });
  return claims;
}

// No gang is preempted for a claim that is still being written, because that write may fail. Nor is any
// preempted for a claim that does not stand yet.
std::vector<Cycle::JobPtr> Cycle::standingClaims() const {
  std::vector<JobPtr> standing = claims();
  std::erase_if(standing, [&](const JobPtr& job) {
    const auto feedbackAt = input_.feedback.find(job->key);
    const JobFeedback& feedback =
        feedbackAt == input_.feedback.end() ? input_.otherFeedback : feedbackAt->second;
    return feedback.busy || !stepProposal(*job, podsOf(*job), contextOf(feedback)).evicts;
  });
  return standing;
}

// Returns the gangs that lost claimed members while their records still hold the nodes. Either their own
// write is late, or they were suspended and resumed.
std::set<model::ObjectKey> Cycle::gangsHoldingClaimed() const {
  std::set<model::ObjectKey> gangsHoldingClaimed;
  const auto& pods = input_.snapshot.pods;
  for (const JobPtr& preemptor : claims()) {
    const model::Proposal& claim = *preemptor->status.gang.proposal;
    const bool stays = !preemptor->deleting && !preemptor->spec.run.suspend;
    const bool stands = stays && input_.snapshot.now < claim.deadline;
    if (!stands || claim.phase != model::ProposalPhase::kClaiming) continue;
    for (const model::Victim& victim : claim.victims) {
      const model::Pod* pod = findVictim(pods, victim);
      if (pod != nullptr && !pod->finished()) continue;
      const VictimAssignment place = placeOf(victim, pods, input_.snapshot.jobs);
      if (place.gang != nullptr && !place.givenUp && !place.gang->status.gang.proposal)
        gangsHoldingClaimed.insert(place.gang->key);
    }
  }
  return gangsHoldingClaimed;
}

GangContext Cycle::contextOf(const JobFeedback& feedback) const {
  return {input_.snapshot.now,   &settings_,      &ledger_, &feedback, &input_.snapshot.jobs,
          &input_.snapshot.pods, &input_.feedback};
}

void Cycle::decideAll() {
  // Both lists are sorted by key.
  auto feedbackAt = input_.feedback.begin();
  for (position_ = 0; position_ < input_.snapshot.jobs.size(); ++position_) {
    const JobPtr& job = input_.snapshot.jobs[position_];
    // A settled gang may still have to give up capacity for a claim, or have a life sign to record.
    const bool settled = isSettled(cache_.notes().of(position_));
    const bool called = (!evictions_.empty() && evictions_.contains(job->key)) || lifeOf(*job) != nullptr;
    if (settled && !called) continue;
    feedback_ = &input_.otherFeedback;
    for (; feedbackAt != input_.feedback.end(); ++feedbackAt) {
      const auto order = feedbackAt->first <=> job->key;
      if (order == 0) feedback_ = &feedbackAt->second;
      if (order >= 0) break;
    }
    decide(job);
  }
}

const LifeSign* Cycle::lifeOf(const Job& job) const {
  if (input_.life.empty()) return nullptr;
  const auto found = input_.life.find(job.key);
  return found == input_.life.end() ? nullptr : &found->second;
}

bool Cycle::isSettled(const JobNotes::Note& note) {
  if (!note.settled || !note.settledUntil) return note.settled;
  wakeAt(note.settledUntil);
  return input_.snapshot.now < *note.settledUntil;
}

void Cycle::decide(const JobPtr& job) {
  // A job with `waits` set has no pods.
  const bool waits = cache_.notes().of(position_).waits;
  if (!waits) chargeLeaving(*job);
  if (feedback_->busy) return keepQueuePosition(job);
  if (waits && !admitTemplate(*feedback_)) return wait(job);
  if (model::managedByOther(*job) || isStatusDeferred(*job)) return;
  if (const auto preemptor = preemptorOf(*job)) return evict(job, *preemptor);
  if (job->status.gang.proposal) return job->status.gang.proposal->movesFor ? awaitMove(job) : stepOn(job);
  if (job->deleting) return drainDeleted(job);
  if (job->finished()) return cleanUpFinished(job);
  if (job->status.gang.placed) return watchPlaced(job);
  if (const auto strays = strayPods(*job, podsOf(*job)); !strays.empty()) return removeStrays(job, strays);
  if (job->spec.run.suspend) return holdSuspended(job);
  admitOrRefuse(job);
}

// Returns the preemptor if its claim names members that the gang's own proposal would keep. The gang is then
// preempted although it is changing. watchPlaced() handles gangs without a proposal.
std::optional<model::ObjectKey> Cycle::preemptorOf(const Job& job) {
  const auto& proposal = job.status.gang.proposal;
  if (evictions_.empty() || !proposal || !job.status.gang.placed || !preemptible(job)) return std::nullopt;
  const auto preemptor = evictions_.find(job.key);
  if (preemptor == evictions_.end()) return std::nullopt;
  const auto& named = namedBy(preemptor->second);
  const bool removes = proposal->phase == model::ProposalPhase::kClaiming;
  // The restart deletes its pods, but takes nodes again that are claimed. A restart that moves for the claim
  // takes other nodes.
  const bool takesAgain = proposal->kind == model::ProposalKind::kRestart &&
                          sharesNode(proposal->add, assignedNodesOf(preemptor->second, input_.snapshot));
  for (const auto& pod : podsOf(job)) {
    const bool leaves =
        removes && !takesAgain && pod->member && proposal->removes(pod->member->role, pod->member->index);
    if (named.contains(pod->uid) && !leaves) return preemptor->second;
  }
  return std::nullopt;
}

// Pods that no record keeps hold their capacity until they are gone, and a queue is charged for them. That is
// the queue of the gang's charge, else the requested queue if the job may use it. If the record keeps all its
// members, that many pods are the gang's own and do not count as leaving.
void Cycle::chargeLeaving(const Job& job) {
  if (model::managedByOther(job)) return;
  const JobPods& pods = podsOf(job);
  if (pods.empty()) return;
  const GangRecord& gang = job.status.gang;
  const bool atPeace = !job.finished() && !job.deleting && !job.spec.run.suspend;
  const auto* kept = keptMembers(gang);
  if (atPeace && kept != nullptr && static_cast<std::int64_t>(pods.size()) <= memberCount(*kept)) return;
  if (!gang.charge && !queueOpenTo(queues_.requestedQueueOf(job), job.key.ns, input_.snapshot)) return;
  queues_.chargeLeaving(queues_.queueOf(job), leavingOf(queues_.capacity(), job, pods));
}

// A job cannot be planned while its last write is under way, but it keeps its turn in the queue. Jobs behind
// it must not take the capacity that it waits for. It has no turn while its writes fail, because it may never
// be written. A job that would not be admitted has none either; its status may not show that yet.
void Cycle::keepQueuePosition(const JobPtr& job) {
  const model::GangRecord& gang = job->status.gang;
  const bool waits =
      !gang.placed && !gang.proposal && !job->deleting && !job->finished() && !job->spec.run.suspend;
  const bool backsOff = backsOffUntil(gang, input_.snapshot.now).has_value();
  const model::Condition* admitted = job->condition(model::conditions::kAdmitted);
  const bool refused = admitted != nullptr && admitted->status == model::ConditionStatus::kFalse;
  if (!waits || backsOff || refused || feedback_->failing) return;
  if (admit(*job, input_.snapshot, queues_, *feedback_).refusal) return;
  waiting_.push_back({job, true});
}

void Cycle::wait(const JobPtr& job) {
  ++plan_.waiting;
  waiting_.push_back({job});
}

// Records that the job at hand has nothing to do, or nothing before `until`.
void Cycle::settle(std::optional<base::WallTime> until) {
  JobNotes::Note& note = cache_.notes().of(position_);
  note.settled = true;
  note.settledUntil = until;
  wakeAt(until);
}

void Cycle::dropEmptyDecisions() {
  for (JobDecision& decision : plan_.decisions) {
    if (decision.status && *decision.status == decision.job->status) decision.status.reset();
  }
  std::erase_if(plan_.decisions, [](const JobDecision& decision) {
    return !decision.status && decision.actions.empty() && decision.events.empty();
  });
}

Plan cycle(const CycleInput& input, CycleCache& cache) { return Cycle(input, cache).run(); }

Plan cycle(const CycleInput& input) {
  CycleCache cache;
  return cycle(input, cache);
}

}  // namespace trainyard::core
