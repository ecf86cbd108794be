#include "core/cycle/placed_step.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/admission/admission.h"
#include "core/cycle/admission_step.h"
#include "core/cycle/proposal_step.h"
#include "core/elastic/user_scale.h"
#include "core/gang.h"
#include "core/queues/holdings.h"
#include "core/resize.h"
#include "core/status/describe.h"
#include "model/charge.h"
#include "model/conditions.h"
#include "model/message_text.h"

namespace trainyard::core {
namespace {

constexpr std::chrono::seconds kRestAfterSuspension{10};

// Reports the silence once, when it begins.
void reportSilence(const model::Job& job, const StatusUpdate& update, JobDecision& decision) {
  const bool silent = update.life != nullptr && update.life->silentSince.has_value();
  if (!silent || job.conditionTrue(model::conditions::kStalled)) return;
  decision.urgency = Urgency::kNow;
  decision.events.push_back({true, "Stalled", silenceText(job, *update.life->silentSince)});
}

}  // namespace

void PlacedStep::watch(const CurrentJob& current) {
  const JobPtr& job = current.job;
  if (job->recordUnwritten) return recordLost(job);
  if (job->spec.run.suspend) return removal_.stopForSuspension(job);
  if (job->owner != nullptr) return watchOwned(current);
  const auto& placed = *job->status.gang.placed;
  const std::vector<Member> members = placedMembers(*job, placed, in_.podsOf(*job));
  StatusUpdate update;
  update.where = decisions_.placementText(job->status.gang);
  update.verdict = judge(*job, members);
  const bool ended =
      update.verdict.outcome == Outcome::kSucceeded || update.verdict.outcome == Outcome::kFailed;
  const model::ObjectKey* preemptor = claims_.preemptorOf(job->key);
  if (preemptor != nullptr && !ended) return release(job, *preemptor);
  const std::optional<base::WallTime> deadline = deadlineOf(*job, in_.input.snapshot.now);
  if (deadline && in_.input.snapshot.now >= *deadline && update.verdict.outcome != Outcome::kSucceeded)
    return follow(job, endAtDeadline(*job, in_.input.snapshot.now));
  in_.wakeAt(deadline);
  if (update.verdict.outcome == Outcome::kLost) return replaceLostMembers(job, members, update);
  if (update.verdict.outcome == Outcome::kFailed) return followFailed(current, members, update.verdict);
  if (update.verdict.outcome == Outcome::kRunning) {
    update.life = in_.lifeOf(*job);
    if (update.life != nullptr && update.life->silentSince && job->spec.health.restartStalled)
      return follow(
          job, takeForRestart(*job, followStall(*job, members, *update.life->silentSince, mayRestartNow(*job),
                                                placementScope(), in_.author())));
  }
  JobDecision& decision = decisions_.derive(job, job->status.gang, update);
  // Every member has its pod here, so there can be strays only if there are more pods than members.
  const bool strays = in_.podsOf(*job).size() > members.size();
  if (strays) removal_.removeStrays(*job, decision);
  if (update.verdict.outcome == Outcome::kRunning) {
    if (!strays && !job->recordUnwritten && !someEnded(*job, in_.podsOf(*job)) && requestsOtherSize(*job))
      return sizes_.add(job);
    if (job->recordUnwritten && isAboutToRun(*job, job->status.gang, in_.podsOf(*job)))
      decision.urgency = Urgency::kSoon;
    reportSilence(*job, update, decision);
    if (!strays && *decision.status == job->status) in_.settle(current.position, deadline);
    return;
  }
  decision.urgency = Urgency::kNow;
  decision.events.push_back({false, update.verdict.reason, update.verdict.message});
  in_.endHoldings(job);
}

void PlacedStep::watchOwned(const CurrentJob& current) {
  const JobPtr& job = current.job;
  const std::vector<Member> members = placedMembers(*job, *job->status.gang.placed, in_.podsOf(*job));
  StatusUpdate update;
  update.where = decisions_.placementText(job->status.gang);
  update.verdict = judge(*job, members);
  const bool ended = update.verdict.outcome != Outcome::kRunning;
  const model::ObjectKey* preemptor = claims_.preemptorOf(job->key);
  if (preemptor != nullptr && !ended) return evict(job, *preemptor);
  if (!ended && job->owner->suspended) return giveUpSuspended(job, update);
  if (!ended) {
    const ClosedPlaces closed = closedPlaces(*job, members, in_.ledger, in_.input.snapshot.jobs);
    if (!closed.members.empty() && mayRestartNow(*job)) return moveAway(job, members, closed, update);
  }
  const base::WallTime now = in_.input.snapshot.now;
  if (!ended) {
    if (const auto abandoned = abandonedPlaces(*job, members, now); !abandoned.empty())
      return giveUpPlaces(job, abandoned, abandoned.size() == members.size(), update);
  }
  const auto surplus = ended ? std::vector<Surplus>()
                             : surplusOf(*job, in_.podsOf(*job), in_.ledger.pods().arrivals(job->key));
  if (startsOver(*job, members, surplus)) return startOver(job, update);
  Placing placing;
  if (!ended) placing = placeArrivals(*job, members, in_.gangContext(current.feedback));
  JobDecision& decision = decisions_.derive(job, job->status.gang, update);
  setPodsMissing(*job, members, placing.refused.reason, now, *decision.status);
  removal_.removeStrays(*job, decision);
  if (ended) {
    decision.urgency = Urgency::kNow;
    decision.events.push_back(
        {update.verdict.outcome == Outcome::kFailed, update.verdict.reason, update.verdict.message});
    return in_.endHoldings(job);
  }
  const bool grows = !surplus.empty();
  if (grows) sizes_.add(job);
  std::move(placing.actions.begin(), placing.actions.end(), std::back_inserter(decision.actions));
  in_.wakeAt(abandonedAt(*job, members));
  // What an open place waits for is not only its own gang's: its node may open, its pod may arrive.
  const bool isComplete = std::none_of(members.begin(), members.end(), isOpen);
  if (isComplete && !grows && decision.actions.empty() && *decision.status == job->status)
    in_.settle(current.position);
}

// The gang goes on without these places; without any, it waits again.
void PlacedStep::giveUpPlaces(const JobPtr& job, const std::vector<Member>& open, bool areAll,
                              const StatusUpdate& update) {
  std::vector<model::Assignment> places;
  for (const Member& each : open)
    places.push_back({each.node, each.role, model::IndexSet({each.index}), each.epoch});
  const auto kind = areAll ? model::ProposalKind::kRestart : model::ProposalKind::kReplace;
  if (areAll) places = job->status.gang.placed->assignments;
  decisions_.write(job, propose(*job, kind, {}, std::move(places), {}, in_.author()),
                   {{false, "PlacesGivenUp",
                     fmt::format("{} without a pod {} given up",
                                 model::counted(static_cast<std::int64_t>(open.size()), "place"),
                                 open.size() == 1 ? "is" : "are")}},
                   update);
}

// The gang gives up what it has, and waits for all its places at once.
void PlacedStep::startOver(const JobPtr& job, const StatusUpdate& update) {
  decisions_.write(
      job,
      propose(*job, model::ProposalKind::kRestart, {}, job->status.gang.placed->assignments, {},
              in_.author()),
      {{false, "OwnerStartedOver",
        fmt::format("{} {} has started again from the beginning: the gang waits for all its places",
                    job->owner->kind, job->owner->name)}},
      update);
}

// Another client has set the owner's field: the gang stops, and waits again. A client that sets it after each
// start does not occupy the queue.
void PlacedStep::giveUpSuspended(const JobPtr& job, const StatusUpdate& update) {
  const std::string why = suspendedByOthers(*job->owner);
  model::GangRecord record = propose(*job, model::ProposalKind::kRestart, {},
                                     job->status.gang.placed->assignments, {}, in_.author());
  model::Backoff& rest = record.backoff.emplace();
  rest.until = in_.input.snapshot.now + kRestAfterSuspension;
  rest.reason = why;
  decisions_
      .write(job, std::move(record),
             {{true, "OwnerSuspended", fmt::format("{}: the gang gives up its nodes and waits again", why)}},
             update)
      .urgency = Urgency::kNow;
}

// These members get other nodes; the others run on.
void PlacedStep::moveAway(const JobPtr& job, const std::vector<Member>& members, const ClosedPlaces& closed,
                          StatusUpdate update) {
  if (!claims_.holdsClaimed(job->key)) update.pending = backingOff(in_, *job);
  if (update.pending) {
    decisions_.write(job, job->status.gang, {}, update);
    return;
  }
  Replacement replacement = replaceLost(*job, members, closed.members, placementScope(), in_.author());
  FailedGang gang{.record = std::move(replacement.record),
                  .assignments = std::move(replacement.assignments),
                  .update = std::move(update),
                  .event = {true, "MemberLost",
                            fmt::format("{}: member {}-{} gets another node", closed.reason,
                                        closed.members.front().role, closed.members.front().index)}};
  follow(job, takeForRestart(*job, std::move(gang)));
}

// The claim takes the last members of an elastic gang, or all of the gang.
void PlacedStep::release(const JobPtr& job, const model::ObjectKey& preemptor) {
  const int gives = claims_.membersClaimed(*job, preemptor);
  if (gives <= 0) return evict(job, preemptor);
  Change shrink;
  shrink.job = job;
  shrink.kind = ChangeKind::kShrink;
  shrink.remove = lastMembers(*job, gives);
  shrink.preemptor = preemptor;
  sizes_.resize(shrink, model::SizeOwner::kPreemption);
}

// A single-pod job that lost its bound pod before any record was written. The record of its placement is
// written first, so that the next attempt follows it.
void PlacedStep::recordLost(const JobPtr& job) {
  StatusUpdate update;
  update.where = decisions_.placementText(job->status.gang);
  decisions_.derive(job, job->status.gang, update).urgency = Urgency::kNow;
}

// Members ended with an error. The cause is collected first, because it decides what follows.
void PlacedStep::followFailed(const CurrentJob& current, const std::vector<Member>& members,
                              const Verdict& verdict) {
  const JobPtr& job = current.job;
  if (pausesInPlace(*job)) return resumeFailed(job, members, verdict);
  const std::optional<Failure> checked = failedPreflight(verdict);
  if (!current.feedback.failure && !checked) {
    decisions_.add(job).actions.emplace_back(CollectEvidence{});
    return;
  }
  FailedGang gang = followFailure(*job, members, verdict, checked ? *checked : *current.feedback.failure,
                                  mayRestartNow(*job), placementScope(), in_.author());
  follow(job, takeForRestart(*job, std::move(gang)));
}

void PlacedStep::resumeFailed(const JobPtr& job, const std::vector<Member>& members, const Verdict& verdict) {
  StatusUpdate update;
  if (!claims_.holdsClaimed(job->key)) update.pending = backingOff(in_, *job);
  if (update.pending) {
    decisions_.write(job, job->status.gang, {}, update);
    return;
  }
  follow(job, takeForRestart(*job, replaceAfterPause(*job, members, verdict, mayRestartNow(*job),
                                                     placementScope(), in_.author())));
}

// Takes the gang's new nodes from the ledger if it restarts at once.
FailedGang PlacedStep::takeForRestart(const model::Job& job, FailedGang gang) {
  takeAndRecharge(job, gang.record, gang.assignments);
  if (!gang.assignments.empty())
    gang.update.where = describePlacement(gang.assignments, in_.ledger, in_.input.snapshot.policy.topology);
  return gang;
}

void PlacedStep::follow(const JobPtr& job, FailedGang gang) {
  if (gang.update.where.empty()) gang.update.where = decisions_.placementText(gang.record);
  JobDecision& decision = decisions_.derive(job, std::move(gang.record), gang.update);
  decision.urgency = Urgency::kNow;
  decision.events.push_back(std::move(gang.event));
  if (gang.update.verdict.outcome == Outcome::kFailed) in_.endHoldings(job);
}

void PlacedStep::replaceLostMembers(const JobPtr& job, const std::vector<Member>& members,
                                    StatusUpdate update) {
  // An attempt to replace the members was given up: the others run on, and it is not repeated at once. The
  // pause does not apply if another gang waits for capacity that this one has to give up.
  if (!claims_.holdsClaimed(job->key)) update.pending = backingOff(in_, *job);
  if (update.pending) {
    update.verdict = {};
    decisions_.write(job, job->status.gang, {}, update);
    return;
  }
  follow(job, takeForRestart(*job, followLoss(*job, members, update.verdict, mayRestartNow(*job),
                                              placementScope(), in_.author())));
}

// Returns false if the gang's nodes are claimed for another gang, or if it may not get new pods.
bool PlacedStep::mayRestartNow(const model::Job& job) const {
  const bool promised = claims_.names(job.key) || claims_.holdsClaimed(job.key);
  return job.specError.empty() && !promised && mayGetNewPods(job, in_.input.snapshot, in_.queues);
}

PlacementScope PlacedStep::placementScope() {
  const bool usesOneType = !in_.input.snapshot.policy.mixGpuTypes;
  return {in_.ledger, in_.cache.domains(), in_.queues,
          usesOneType ? &in_.cache.schedule().gpuTypes(in_.input.snapshot) : nullptr};
}

// Takes new nodes for a gang, or some of its members. Their GPU types may be charged differently.
void PlacedStep::takeAndRecharge(const model::Job& job, const model::GangRecord& record,
                                 const std::vector<model::Assignment>& assignments) {
  if (assignments.empty()) return;
  take(job, assignments);
  if (!in_.queues.dimensions().namesTypes()) return;
  model::Job after = job;
  after.status.gang = record;
  const QueueTree::Index queue = in_.queues.queueOf(job);
  const bool nonPreemptible = !model::chargedPreemptible(job);
  in_.queues.discharge(queue, holdingsOf(in_.queues.capacity(), job), nonPreemptible);
  in_.queues.charge(queue, holdingsOf(in_.queues.capacity(), after), nonPreemptible);
  Amounts leaving = leavingOf(in_.queues.capacity(), after, in_.podsOf(job));
  const Amounts left = leavingOf(in_.queues.capacity(), job, in_.podsOf(job));
  for (std::size_t d = 0; d < leaving.size(); ++d) leaving[d] -= left[d];
  in_.queues.chargeLeaving(queue, leaving);
}

void PlacedStep::take(const model::Job& job, const std::vector<model::Assignment>& assignments) {
  for (const model::Assignment& assignment : assignments) {
    const model::Role* role = job.spec.findRole(assignment.role);
    in_.ledger.take(*in_.ledger.find(assignment.node), role->shape.requests,
                    static_cast<int>(assignment.indices.size()), &job);
  }
}

void PlacedStep::evict(const JobPtr& job, const model::ObjectKey& preemptor) {
  StatusUpdate update;
  update.preemptedBy = preemptor;
  update.preemptedByOtherQueue = isOfOtherQueue(in_, preemptor, *job);
  JobDecision& decision = decisions_.derive(job, proposeEviction(*job, in_.author()), update);
  decision.urgency = Urgency::kNow;
  decision.events.push_back({true, "Preempted", fmt::format("is preempted for {}; waits again", preemptor)});
}

}  // namespace trainyard::core
