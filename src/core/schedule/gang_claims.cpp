#include "core/schedule/gang_claims.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/preemption/claims.h"
#include "core/queues/eligibility.h"
#include "core/queues/guarantee.h"
#include "core/queues/holdings.h"
#include "core/queues/priority.h"
#include "core/queues/quota_check.h"
#include "core/resize.h"
#include "core/schedule/pending_rights.h"
#include "model/late_members.h"

namespace trainyard::core {

// Returns how wide a claim's placement may be; nothing if no claim may be made. No gang is preempted for
// closeness: none if the job can start once its topology constraint is relaxed. If only a limit is in the way
// then, the claim is made for that wider placement. (Rejected: no claim then, either. The job never preempts,
// and never starts. Rejected: a claim for the closer one. It preempts for closeness, beside what the limit
// needs.)
std::optional<std::size_t> GangClaims::widestToClaim(const PendingJob& pendingJob, const GangShape& shape) {
  if (pendingJob.waiting->silent || !in_.preemption.gangs().any()) return std::nullopt;
  std::size_t widest = shape.relaxation.widest;
  if (!shape.relaxation.next || in_.placer.place(*pendingJob.waiting->job, shape.key, widest)) return widest;
  const model::Job& job = *pendingJob.waiting->job;
  bool fitsWider = false;
  for (const GangPlacer::Widening& wider : in_.placer.widenings(job, shape.key, pendingJob.position)) {
    if (!in_.placer.place(job, shape.key, wider.widest)) continue;
    if (placer_.place(pendingJob, shape.key, wider.widest).placement) return std::nullopt;
    if (!fitsWider) widest = wider.widest;
    fitsWider = true;
  }
  return widest;
}

Preemptor GangClaims::preemptorAt(const PendingJob& pendingJob, const model::Job& sized) {
  Preemptor preemptor = preemptorOf(in_, pendingJob);
  preemptor.job = &sized;
  preemptor.demand = typedDemandOf(in_, pendingJob, sized);
  return preemptor;
}

GangClaims::Outcome GangClaims::claim(const PendingJob& pendingJob, const GangShape& shape) {
  const auto widest = widestToClaim(pendingJob, shape);
  if (!widest) return {};
  const auto minimum = minimumOf(*pendingJob.waiting->job, in_.snapshot.policy);
  const Preemptor preemptor = minimum ? preemptorAt(pendingJob, *minimum) : preemptorOf(in_, pendingJob);
  const auto again = claimsAgainFrom(*preemptor.job);
  if (again && in_.snapshot.now < *again) in_.wakeAt(again);
  // Equivalent jobs get the same answer, except holders of reservations and jobs with a failed claim. With
  // time slicing, one of two equivalent jobs may have its time slice before the other.
  const bool hasEquivalents =
      !preemptor.isHolder && !again &&
      !(allowsTimeSlicing(in_.snapshot.policy) && in_.preemption.gangs().anyTimeSliced());
  const EquivalenceKey key = equivalenceKeyOf(pendingJob, shape);
  if (hasEquivalents && in_.failed.hasClaim(key)) return {};
  ClaimAnswer answer = search_.search(pendingJob, preemptor, *widest);
  if (answer.claim)
    return {.isStarted = carryOutOffReserved(pendingJob, preemptor, *widest, std::move(*answer.claim))};
  if (hasEquivalents && !answer.startsSoon) in_.failed.addClaim(key);
  return {.hadNoCandidate = answer.hadNoCandidate, .startsSoon = answer.startsSoon};
}

bool GangClaims::claimBeforeLeaving(const PendingJob& pendingJob, const GangShape& shape) {
  const auto minimum = minimumOf(*pendingJob.waiting->job, in_.snapshot.policy);
  const Preemptor preemptor = minimum ? preemptorAt(pendingJob, *minimum) : preemptorOf(in_, pendingJob);
  if (!isWithinGuarantee(in_.tree, preemptor.queue, preemptor.demand)) return false;
  const auto withLeaving = beyondLimitWithLeaving(in_.tree, preemptor.queue, preemptor.demand);
  const auto widest = widestToClaim(pendingJob, shape);
  if (!withLeaving || !widest) return false;
  ClaimAnswer answer = search_.searchBeforeLeaving(pendingJob, preemptor, *widest, *withLeaving);
  return answer.claim && carryOutUnlessReserved(pendingJob, std::move(*answer.claim));
}

GangClaims::Outcome GangClaims::claimGuaranteed(const PendingJob& pendingJob, const GangShape& shape) {
  const model::Job& job = *pendingJob.waiting->job;
  if (!mayStartSmaller(job, in_.snapshot.policy)) return {};
  const auto widest = widestToClaim(pendingJob, shape);
  if (!widest) return {};
  const int minimum = job.spec.elastic->minReplicas;
  int members = minimum;
  for (int beyond = desiredMembers(job) + 1; beyond - members > 1;) {
    const int size = members + (beyond - members) / 2;
    const bool within = isWithinGuarantee(in_.tree, pendingJob.queue,
                                          typedDemandOf(in_, pendingJob, *withDesiredSize(job, size)));
    (within ? members : beyond) = size;
  }
  const EquivalenceKey key = equivalenceKeyOf(pendingJob, shape);
  if (members <= minimum || in_.failed.hasGuaranteedClaim(key)) return {};
  if (placer_.placeWith(pendingJob, members, *widest)) return {};
  const auto sized = withDesiredSize(job, members);
  const Preemptor preemptor = preemptorAt(pendingJob, *sized);
  ClaimAnswer answer = search_.search(pendingJob, preemptor, *widest);
  if (answer.claim)
    return {.isStarted = carryOutOffReserved(pendingJob, preemptor, *widest, std::move(*answer.claim))};
  in_.failed.addGuaranteedClaim(key);
  return {.startsSoon = answer.startsSoon};
}

bool GangClaims::claimMore(const PendingJob& pendingJob, const GangShape& shape) {
  const model::Job& job = *pendingJob.waiting->job;
  // Such a gang would never give back the members that it got.
  if (model::mayStartIncomplete(job.spec)) return false;
  if (!mayStartSmaller(job, in_.snapshot.policy)) return false;
  const auto widest = widestToClaim(pendingJob, shape);
  if (!widest) return false;
  const EquivalenceKey key = equivalenceKeyOf(pendingJob, shape);
  if (in_.failed.hasShrink(key, pendingJob.queuePosition.expected)) return false;
  const int minimum = job.spec.elastic->minReplicas;
  int beyond = desiredMembers(job) + 1;
  for (int members = beyond - 1; members > minimum; members = minimum + (members - minimum) / 2) {
    // ElasticStart takes what is already free, and takes all of it.
    if (placer_.placeWith(pendingJob, members, *widest)) break;
    if (auto claim = shrinkingFor(pendingJob, members, *widest)) {
      auto most = mostOfLower(pendingJob, std::move(claim), {members, beyond}, *widest);
      return most && carryOutUnlessReserved(pendingJob, std::move(*most));
    }
    beyond = members;
  }
  in_.failed.addShrink(key, pendingJob.queuePosition.expected);
  return false;
}

// Claims a start with so many members, for which other gangs of the queue shrink.
std::optional<Claim> GangClaims::shrinkingFor(const PendingJob& pendingJob, int members, std::size_t widest) {
  const auto sized = withDesiredSize(*pendingJob.waiting->job, members);
  Preemptor preemptor = preemptorAt(pendingJob, *sized);
  preemptor.aboveMinimum = true;
  return search_.searchShrinking(preemptor, widest);
}

// Takes a claim for the first of `sizes`, where the second is too large. If all gangs that shrink have a
// lower priority, returns one for the largest size in between; nothing if the cycle's work is spent.
// (Rejected: from gangs of equal priority, too. Elastic replays of Pollux' workloads take 1 % longer in the
// mean.)
std::optional<Claim> GangClaims::mostOfLower(const PendingJob& pendingJob, std::optional<Claim> claim,
                                             std::pair<int, int> sizes, std::size_t widest) {
  const Priorities priorities(in_.snapshot);
  const bool areLower = std::all_of(claim->releases.begin(), claim->releases.end(), [&](const Change& each) {
    return priorities.of(*each.job) < pendingJob.priority;
  });
  auto [members, beyond] = sizes;
  while (areLower && claim && beyond - members > 1) {
    const int size = members + (beyond - members) / 2;
    in_.preemption.withdraw(*claim);
    auto more = shrinkingFor(pendingJob, size, widest);
    (more ? members : beyond) = size;
    claim = more ? std::move(more) : shrinkingFor(pendingJob, members, widest);
  }
  return claim;
}

bool GangClaims::moveOthers(const PendingJob& pendingJob, const GangShape& shape) {
  if (pendingJob.waiting->silent) return false;
  auto claim = in_.preemption.move(preemptorOf(in_, pendingJob), shape.relaxation.widest);
  if (!claim) return false;
  carryOut(pendingJob, std::move(*claim), {});
  return true;
}

// A claim that takes reserved capacity gives way to one that does not.
bool GangClaims::carryOutOffReserved(const PendingJob& pendingJob, const Preemptor& preemptor,
                                     std::size_t widest, Claim claim) {
  const bool isForStarts = !claim.yields.empty();
  auto [avoided, reserved] = book_.nodesAround(claim.placement.assignments);
  if (carryOutUnlessReserved(pendingJob, std::move(claim))) return true;
  avoided.insert(avoided.end(), reserved.begin(), reserved.end());
  if (isForStarts || avoided.empty()) return false;
  const model::Job& job = *pendingJob.waiting->job;
  std::shared_ptr<const GangPlacer::NodeNames> before;
  if (const auto* closed = in_.placer.closedTo(job)) {
    before = std::make_shared<const GangPlacer::NodeNames>(*closed);
    avoided.insert(avoided.end(), before->begin(), before->end());
  }
  in_.placer.close(job.key, std::make_shared<const GangPlacer::NodeNames>(std::move(avoided)));
  ClaimAnswer answer = search_.search(pendingJob, preemptor, widest);
  in_.placer.close(job.key, before);
  return answer.claim && carryOutUnlessReserved(pendingJob, std::move(*answer.claim));
}

// A claim is subject to the reservations of others like any start. Capacity of its victims is left out,
// because it is handed over. (Rejected: no check. A queue could take, job by job, what is reserved for a gang
// in another queue.) A start that is itself conditional preempts no gang of another queue.
bool GangClaims::carryOutUnlessReserved(const PendingJob& pendingJob, Claim claim) {
  if (!claim.yields.empty()) {
    for (auto& each : claim.yields)
      in_.schedule.yields.push_back({std::move(each), pendingJob.waiting->job->key});
    return false;
  }
  auto judgement = book_.judge(pendingJob, claim.placement.assignments, &claim.releases);
  const bool preemptsOthers =
      std::any_of(claim.releases.begin(), claim.releases.end(), [&](const Change& each) {
        return each.kind != ChangeKind::kShrink && in_.tree.queueOf(*each.job) != pendingJob.queue;
      });
  if (judgement.isReserved() || (preemptsOthers && !judgement.conditions.empty())) {
    in_.preemption.withdraw(claim);
    return false;
  }
  carryOut(pendingJob, std::move(claim), std::move(judgement.conditions));
  return true;
}

void GangClaims::carryOut(const PendingJob& pendingJob, Claim claim, ScheduleContext::Conditions conditions) {
  PendingReleases leaving;
  const ClusterCapacity& capacity = in_.tree.capacity();
  for (Change& change : claim.releases) {
    if (change.kind != ChangeKind::kMove)
      add(leaving, {in_.tree.queueOf(*change.job), heldBy(capacity, *change.job, change.remove)});
    in_.schedule.changes.push_back(change);
  }
  in_.failed.onPreemption();
  std::vector<model::Victim> awaited = search_.awaitedBy(
      pendingJob, claim, heldBy(capacity, *pendingJob.waiting->job, claim.placement.assignments), leaving);
  in_.start(pendingJob, std::move(claim.placement), std::move(conditions));
  in_.schedule.changes.back().awaited = std::move(awaited);
  for (const Change& change : claim.releases) {
    if (change.kind == ChangeKind::kMove) in_.take(*change.job, change.add);
  }
  const Change& started = in_.schedule.changes.back();
  countOnce(in_.tree, pendingJob.queue, heldBy(capacity, *started.job, started.add.assignments), leaving);
}

void GangClaims::takeOver(const PendingJob& pendingJob, const GangShape& shape) {
  ClaimTakeOver& claims = in_.preemption.claimsUnderWay();
  if (!claims.any()) return;
  if (const auto from = claims.takeOver(preemptorOf(in_, pendingJob), shape.relaxation.widest))
    in_.schedule.yields.push_back({*from, pendingJob.waiting->job->key});
}

}  // namespace trainyard::core
