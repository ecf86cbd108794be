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

Claimant Scheduler::claimantOf(const Contender& contender) {
  const Job& job = *contender.waiting->job;
  return {.job = &job,
          .priority = contender.priority,
          .queue = contender.queue,
          .demand = typedDemandOf(contender, job),
          .isHolder = contender.asks->reservedSince || preemption_.isHolder(job),
          .rank = contender.rank,
          .overdue = contender.overdue};
}

// Returns the contender's demand at the size of `sized`, with its GPU types where they are known. They are
// left out if a limit on GPUs of any type is exceeded: then every gang that holds GPUs may be in the way.
QueueTree::Amounts Scheduler::typedDemandOf(const Contender& contender, const Job& sized) {
  if (!tree_.namesTypes() && &sized == contender.waiting->job.get()) return contender.demand;
  QueueTree::Amounts ofAnyType = tree_.demandOf(sized);
  if (!tree_.namesTypes() || tree_.beyondLimit(contender.queue, ofAnyType)) return ofAnyType;
  return types_.demandOf(sized, request_.cache.shapeOf(*contender.waiting->job, contender.position));
}

// Returns true if other gangs give up capacity for the contender. It then starts at once, as a claim.
bool Scheduler::claims(const Contender& contender, const GangShape& shape) {
  if (contender.waiting->silent || !preemption_.anyRunning() || wouldFitWider(contender, shape)) return false;
  Claimant claimant = claimantOf(contender);
  // Other gangs give up capacity only for the minimum of an elastic gang.
  const JobPtr smallest = leastOf(*claimant.job, snapshot_.policy);
  if (smallest) {
    claimant.job = smallest.get();
    claimant.demand = typedDemandOf(contender, *smallest);
  }
  const auto again = claimsAgainFrom(*claimant.job);
  if (again && snapshot_.now < *again) wakeAt(again);
  // Equivalent jobs get the same answer, except holders of reservations and jobs with a failed claim. With
  // time slicing, one of two equivalent jobs may have its turn before the other.
  const bool equalsAsk =
      !claimant.isHolder && !again && !(takesTurns(snapshot_.policy) && preemption_.anyTakesTurns());
  const Equals asked = equalsOf(contender, shape);
  if (equalsAsk && claimedInVain_.contains(asked)) return false;
  auto claim = preemption_.claim(claimant, shape.relaxation.widest);
  if (!claim) {
    if (equalsAsk) claimedInVain_.insert(asked);
    return false;
  }
  return carryOutUnlessKept(contender, std::move(*claim));
}

// An elastic gang that finds no capacity gets as many members as its queue is guaranteed, not only its
// minimum. The gangs that borrow that quota give it up.
bool Scheduler::claimsGuaranteed(const Contender& contender, const GangShape& shape) {
  const Job& job = *contender.waiting->job;
  if (!mayStartSmaller(job, snapshot_.policy) || contender.waiting->silent) return false;
  if (!preemption_.anyRunning() || wouldFitWider(contender, shape)) return false;
  const int least = job.spec.elastic->minReplicas;
  int members = least;
  for (int beyond = wishedMembers(job) + 1; beyond - members > 1;) {
    const int size = members + (beyond - members) / 2;
    const bool within =
        isWithinGuarantee(tree_, contender.queue, typedDemandOf(contender, *withWish(job, size)));
    (within ? members : beyond) = size;
  }
  const Equals asked = equalsOf(contender, shape);
  if (members <= least || guaranteedInVain_.contains(asked)) return false;
  if (placeWith(contender, members, shape.relaxation.widest)) return false;
  const JobPtr sized = withWish(job, members);
  Claimant claimant = claimantOf(contender);
  claimant.job = sized.get();
  claimant.demand = typedDemandOf(contender, *sized);
  if (auto claim = preemption_.claim(claimant, shape.relaxation.widest))
    return carryOutUnlessKept(contender, std::move(*claim));
  guaranteedInVain_.insert(asked);
  return false;
}

// An elastic gang that finds no capacity gets more than its minimum from gangs of its queue with a longer
// expected run. It asks for its desired size, then for half as many members beyond the minimum, and so on.
bool Scheduler::claimsMore(const Contender& contender, const GangShape& shape) {
  const Job& job = *contender.waiting->job;
  // Such a gang would never give back the members that it got.
  if (model::mayStartIncomplete(job.spec)) return false;
  if (!mayStartSmaller(job, snapshot_.policy) || contender.waiting->silent) return false;
  if (!preemption_.anyRunning() || wouldFitWider(contender, shape)) return false;
  const int least = job.spec.elastic->minReplicas;
  const std::size_t widest = shape.relaxation.widest;
  const std::tuple asked{contender.queue, contender.priority, shape.key, widest};
  const auto vain = noMoreFor_.find(asked);
  if (vain != noMoreFor_.end() && contender.rank.expected >= vain->second) return false;
  int beyond = wishedMembers(job) + 1;
  for (int members = beyond - 1; members > least; members = least + (members - least) / 2) {
    // startsSmaller() takes what is already free, and takes all of it.
    if (placeWith(contender, members, widest)) break;
    if (auto claim = shrinkingFor(contender, members, widest)) {
      auto most = mostOfLower(contender, std::move(claim), {members, beyond}, widest);
      return most && carryOutUnlessKept(contender, std::move(*most));
    }
    beyond = members;
  }
  noMoreFor_[asked] = contender.rank.expected;
  return false;
}

// Claims a start with so many members, for which other gangs of the queue shrink.
std::optional<Claim> Scheduler::shrinkingFor(const Contender& contender, int members, std::size_t widest) {
  const JobPtr sized = withWish(*contender.waiting->job, members);
  Claimant claimant = claimantOf(contender);
  claimant.job = sized.get();
  claimant.demand = typedDemandOf(contender, *sized);
  claimant.beyondLeast = true;
  return preemption_.claimShrinking(claimant, widest);
}

// Takes a claim for the first of `sizes`, where the second is too large. If all gangs that shrink have a
// lower priority, returns one for the largest size in between; nothing if the cycle's work is spent. (Lost:
// from gangs of equal priority, too. Elastic replays of Pollux' workloads take 1 % longer in the mean.)
std::optional<Claim> Scheduler::mostOfLower(const Contender& contender, std::optional<Claim> claim,
                                            std::pair<int, int> sizes, std::size_t widest) {
  const Priorities priorities(snapshot_);
  const bool areLower =
      std::all_of(claim->concessions.begin(), claim->concessions.end(),
                  [&](const Change& each) { return priorities.of(*each.job) < contender.priority; });
  auto [members, beyond] = sizes;
  while (areLower && claim && beyond - members > 1) {
    const int size = members + (beyond - members) / 2;
    preemption_.withdraw(*claim);
    auto more = shrinkingFor(contender, size, widest);
    (more ? members : beyond) = size;
    claim = more ? std::move(more) : shrinkingFor(contender, members, widest);
  }
  return claim;
}

// Returns true if other gangs move to give up capacity. Called once, for the first job that has to wait.
bool Scheduler::movesOthers(const Contender& contender, const GangShape& shape) {
  if (contender.waiting->silent || exhausted_) return false;
  auto claim = preemption_.move(claimantOf(contender), shape.relaxation.widest);
  if (!claim) return false;
  carryOut(contender, std::move(*claim), {});
  return true;
}

// A claim is subject to the reservations of others like any start. Capacity of its victims is left out,
// because it is handed over. (Lost: no check. A queue could take, job by job, what is reserved for a gang in
// another queue.) A start that is itself conditional preempts no gang of another queue.
bool Scheduler::carryOutUnlessKept(const Contender& contender, Claim claim) {
  if (!claim.yields.empty()) {
    for (JobPtr& each : claim.yields)
      schedule_.yields.push_back({std::move(each), contender.waiting->job->key});
    return false;
  }
  Judgement judgement = judge(contender, claim.placement.assignments, &claim.concessions);
  const bool stopsOthers =
      std::any_of(claim.concessions.begin(), claim.concessions.end(), [&](const Change& each) {
        return each.kind != ChangeKind::kShrink && tree_.queueOf(*each.job) != contender.queue;
      });
  if (judgement.isKept() || (stopsOthers && !judgement.conditions.empty())) {
    preemption_.withdraw(claim);
    return false;
  }
  carryOut(contender, std::move(claim), std::move(judgement.conditions));
  return true;
}

void Scheduler::carryOut(const Contender& contender, Claim claim, Conditions conditions) {
  for (Change& change : claim.concessions) schedule_.changes.push_back(std::move(change));
  noneSmaller_.clear();
  const std::size_t first = schedule_.changes.size() - claim.concessions.size();
  start(contender, std::move(claim.placement), std::move(conditions));
  std::vector<Leaving> leaving;
  for (std::size_t i = first; i + 1 < schedule_.changes.size(); ++i) {
    const Change& change = schedule_.changes[i];
    if (change.kind == ChangeKind::kMove) {
      take(*change.job, change.add);
    } else {
      leaving.push_back({tree_.queueOf(*change.job), tree_.heldBy(*change.job, change.remove)});
    }
  }
  const Change& started = schedule_.changes.back();
  countOnce(tree_, contender.queue, tree_.heldBy(*started.job, started.add.assignments), leaving);
}

void Scheduler::takeOverClaim(const Contender& contender, const GangShape& shape) {
  if (!preemption_.anyClaiming()) return;
  if (const auto from = preemption_.takeOver(claimantOf(contender), shape.relaxation.widest))
    schedule_.yields.push_back({*from, contender.waiting->job->key});
}

}  // namespace trainyard::core
