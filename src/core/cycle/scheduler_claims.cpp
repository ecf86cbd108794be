#include <algorithm>
#include <tuple>
#include <utility>

#include "core/cycle/scheduler.h"
#include "core/preemption/claims.h"
#include "core/queues/eligibility.h"
#include "core/queues/guarantee.h"
#include "core/resize.h"
#include "model/late_members.h"

namespace trainyard::core {

Preemptor Scheduler::preemptorOf(const PendingJob& pendingJob) {
  const Job& job = *pendingJob.waiting->job;
  return {.job = &job,
          .priority = pendingJob.priority,
          .queue = pendingJob.queue,
          .demand = typedDemandOf(pendingJob, job),
          .isHolder = pendingJob.pendingFacts->reservedSince || preemption_.isHolder(job),
          .rank = pendingJob.rank,
          .overdue = pendingJob.overdue};
}

// Returns the contender's demand at the size of `sized`, with its GPU types where they are known. They are
// left out if a limit on GPUs of any type is exceeded: then every gang that holds GPUs may be in the way.
QueueTree::Amounts Scheduler::typedDemandOf(const PendingJob& pendingJob, const Job& sized) {
  if (!tree_.namesTypes() && &sized == pendingJob.waiting->job.get()) return pendingJob.demand;
  QueueTree::Amounts ofAnyType = tree_.demandOf(sized);
  if (!tree_.namesTypes() || tree_.beyondLimit(pendingJob.queue, ofAnyType)) return ofAnyType;
  return types_.demandOf(sized, request_.cache.shapeOf(*pendingJob.waiting->job, pendingJob.position));
}

// Returns true if other gangs give up capacity for the contender. It then starts at once, as a claim.
bool Scheduler::claims(const PendingJob& pendingJob, const GangShape& shape) {
  if (pendingJob.waiting->silent || !preemption_.anyRunning() || wouldFitWider(pendingJob, shape))
    return false;
  Preemptor preemptor = preemptorOf(pendingJob);
  // Other gangs give up capacity only for the minimum of an elastic gang.
  const JobPtr smallest = minimumOf(*preemptor.job, snapshot_.policy);
  if (smallest) {
    preemptor.job = smallest.get();
    preemptor.demand = typedDemandOf(pendingJob, *smallest);
  }
  const auto again = claimsAgainFrom(*preemptor.job);
  if (again && snapshot_.now < *again) wakeAt(again);
  // Equivalent jobs get the same answer, except holders of reservations and jobs with a failed claim. With
  // time slicing, one of two equivalent jobs may have its turn before the other.
  const bool hasEquivalents =
      !preemptor.isHolder && !again && !(allowsTimeSlicing(snapshot_.policy) && preemption_.anyTimeSliced());
  const EquivalenceKey asked = equivalenceKeyOf(pendingJob, shape);
  if (hasEquivalents && failedClaims_.contains(asked)) return false;
  auto claim = preemption_.claim(preemptor, shape.relaxation.widest);
  if (!claim) {
    if (hasEquivalents) failedClaims_.insert(asked);
    return false;
  }
  return carryOutUnlessReserved(pendingJob, std::move(*claim));
}

// An elastic gang that finds no capacity gets as many members as its queue is guaranteed, not only its
// minimum. The gangs that borrow that quota give it up.
bool Scheduler::claimsGuaranteed(const PendingJob& pendingJob, const GangShape& shape) {
  const Job& job = *pendingJob.waiting->job;
  if (!mayStartSmaller(job, snapshot_.policy) || pendingJob.waiting->silent) return false;
  if (!preemption_.anyRunning() || wouldFitWider(pendingJob, shape)) return false;
  const int minimum = job.spec.elastic->minReplicas;
  int members = minimum;
  for (int beyond = desiredMembers(job) + 1; beyond - members > 1;) {
    const int size = members + (beyond - members) / 2;
    const bool within =
        isWithinGuarantee(tree_, pendingJob.queue, typedDemandOf(pendingJob, *withDesiredSize(job, size)));
    (within ? members : beyond) = size;
  }
  const EquivalenceKey asked = equivalenceKeyOf(pendingJob, shape);
  if (members <= minimum || failedGuaranteedClaims_.contains(asked)) return false;
  if (placeWith(pendingJob, members, shape.relaxation.widest)) return false;
  const JobPtr sized = withDesiredSize(job, members);
  Preemptor preemptor = preemptorOf(pendingJob);
  preemptor.job = sized.get();
  preemptor.demand = typedDemandOf(pendingJob, *sized);
  if (auto claim = preemption_.claim(preemptor, shape.relaxation.widest))
    return carryOutUnlessReserved(pendingJob, std::move(*claim));
  failedGuaranteedClaims_.insert(asked);
  return false;
}

// An elastic gang that finds no capacity gets more than its minimum from gangs of its queue with a longer
// expected run. It asks for its desired size, then for half as many members beyond the minimum, and so on.
bool Scheduler::claimsMore(const PendingJob& pendingJob, const GangShape& shape) {
  const Job& job = *pendingJob.waiting->job;
  // Such a gang would never give back the members that it got.
  if (model::mayStartIncomplete(job.spec)) return false;
  if (!mayStartSmaller(job, snapshot_.policy) || pendingJob.waiting->silent) return false;
  if (!preemption_.anyRunning() || wouldFitWider(pendingJob, shape)) return false;
  const int minimum = job.spec.elastic->minReplicas;
  const std::size_t widest = shape.relaxation.widest;
  const std::tuple asked{pendingJob.queue, pendingJob.priority, shape.key, widest};
  const auto failed = noMoreFor_.find(asked);
  if (failed != noMoreFor_.end() && pendingJob.rank.expected >= failed->second) return false;
  int beyond = desiredMembers(job) + 1;
  for (int members = beyond - 1; members > minimum; members = minimum + (members - minimum) / 2) {
    // startsSmaller() takes what is already free, and takes all of it.
    if (placeWith(pendingJob, members, widest)) break;
    if (auto claim = shrinkingFor(pendingJob, members, widest)) {
      auto most = mostOfLower(pendingJob, std::move(claim), {members, beyond}, widest);
      return most && carryOutUnlessReserved(pendingJob, std::move(*most));
    }
    beyond = members;
  }
  noMoreFor_[asked] = pendingJob.rank.expected;
  return false;
}

// Claims a start with so many members, for which other gangs of the queue shrink.
std::optional<Claim> Scheduler::shrinkingFor(const PendingJob& pendingJob, int members, std::size_t widest) {
  const JobPtr sized = withDesiredSize(*pendingJob.waiting->job, members);
  Preemptor preemptor = preemptorOf(pendingJob);
  preemptor.job = sized.get();
  preemptor.demand = typedDemandOf(pendingJob, *sized);
  preemptor.aboveMinimum = true;
  return preemption_.claimShrinking(preemptor, widest);
}

// Takes a claim for the first of `sizes`, where the second is too large. If all gangs that shrink have a
// lower priority, returns one for the largest size in between; nothing if the cycle's work is spent. (Lost:
// from gangs of equal priority, too. Elastic replays of Pollux' workloads take 1 % longer in the mean.)
std::optional<Claim> Scheduler::mostOfLower(const PendingJob& pendingJob, std::optional<Claim> claim,
                                            std::pair<int, int> sizes, std::size_t widest) {
  const Priorities priorities(snapshot_);
  const bool areLower = std::all_of(claim->releases.begin(), claim->releases.end(), [&](const Change& each) {
    return priorities.of(*each.job) < pendingJob.priority;
  });
  auto [members, beyond] = sizes;
  while (areLower && claim && beyond - members > 1) {
    const int size = members + (beyond - members) / 2;
    preemption_.withdraw(*claim);
    auto more = shrinkingFor(pendingJob, size, widest);
    (more ? members : beyond) = size;
    claim = more ? std::move(more) : shrinkingFor(pendingJob, members, widest);
  }
  return claim;
}

// Returns true if other gangs move to give up capacity. Called once, for the first job that has to wait.
bool Scheduler::movesOthers(const PendingJob& pendingJob, const GangShape& shape) {
  if (pendingJob.waiting->silent || exhausted_) return false;
  auto claim = preemption_.move(preemptorOf(pendingJob), shape.relaxation.widest);
  if (!claim) return false;
  carryOut(pendingJob, std::move(*claim), {});
  return true;
}

// A claim is subject to the reservations of others like any start. Capacity of its victims is left out,
// because it is handed over. (Lost: no check. A queue could take, job by job, what is reserved for a gang in
// another queue.) A start that is itself conditional preempts no gang of another queue.
bool Scheduler::carryOutUnlessReserved(const PendingJob& pendingJob, Claim claim) {
  if (!claim.yields.empty()) {
    for (JobPtr& each : claim.yields)
      schedule_.yields.push_back({std::move(each), pendingJob.waiting->job->key});
    return false;
  }
  Judgement judgement = judge(pendingJob, claim.placement.assignments, &claim.releases);
  const bool stopsOthers = std::any_of(claim.releases.begin(), claim.releases.end(), [&](const Change& each) {
    return each.kind != ChangeKind::kShrink && tree_.queueOf(*each.job) != pendingJob.queue;
  });
  if (judgement.isReserved() || (stopsOthers && !judgement.conditions.empty())) {
    preemption_.withdraw(claim);
    return false;
  }
  carryOut(pendingJob, std::move(claim), std::move(judgement.conditions));
  return true;
}

void Scheduler::carryOut(const PendingJob& pendingJob, Claim claim, Conditions conditions) {
  for (Change& change : claim.releases) schedule_.changes.push_back(std::move(change));
  noneSmaller_.clear();
  const std::size_t first = schedule_.changes.size() - claim.releases.size();
  start(pendingJob, std::move(claim.placement), std::move(conditions));
  std::vector<PendingRelease> leaving;
  for (std::size_t i = first; i + 1 < schedule_.changes.size(); ++i) {
    const Change& change = schedule_.changes[i];
    if (change.kind == ChangeKind::kMove) {
      take(*change.job, change.add);
    } else {
      leaving.push_back({tree_.queueOf(*change.job), tree_.heldBy(*change.job, change.remove)});
    }
  }
  const Change& started = schedule_.changes.back();
  countOnce(tree_, pendingJob.queue, tree_.heldBy(*started.job, started.add.assignments), leaving);
}

void Scheduler::takeOverClaim(const PendingJob& pendingJob, const GangShape& shape) {
  if (!preemption_.anyClaiming()) return;
  if (const auto from = preemption_.takeOver(preemptorOf(pendingJob), shape.relaxation.widest))
    schedule_.yields.push_back({*from, pendingJob.waiting->job->key});
}

}  // namespace trainyard::core
