#include "core/schedule/claim_search.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include "core/ledger/what_if.h"
#include "core/queues/guarantee.h"
#include "core/queues/holdings.h"
#include "core/queues/priority.h"

namespace trainyard::core {

ClaimAnswer ClaimSearch::search(const PendingJob& pendingJob, const Preemptor& preemptor,
                                std::size_t widest) {
  ClaimAnswer answer = in_.preemption.claim(preemptor, widest);
  if (in_.placer.budget().exhausted()) return answer;
  const bool isGuaranteed = isWithinGuarantee(in_.tree, preemptor.queue, preemptor.demand);
  if (answer.claim && answer.claim->yields.empty() && canWait(preemptor, widest, *answer.claim, isGuaranteed))
    return {.startsSoon = true};
  if (!isGuaranteed) return answer;
  if (!answer.claim) {
    std::set<const model::Job*> victims;
    const NodeAmounts left = leftOfVictims(victims);
    if (!left.empty() && fitsOnceLeft(preemptor, widest, left, {})) return {.startsSoon = true};
  }
  if (answer.waitsForTerminating) {
    const auto withLeaving = beyondLimitWithLeaving(in_.tree, preemptor.queue, preemptor.demand);
    if (withLeaving) return searchBeforeLeaving(pendingJob, preemptor, widest, *withLeaving);
  }
  // Starts under way are given up before anything else.
  if (answer.claim && !answer.claim->yields.empty()) return answer;
  if (terminating().members().empty()) return answer;
  return answer.claim ? sparing(pendingJob, preemptor, widest, std::move(answer))
                      : earliest(pendingJob, preemptor, widest);
}

// Withdraws the claim if so.
bool ClaimSearch::canWait(const Preemptor& preemptor, std::size_t widest, const Claim& claim,
                          bool isGuaranteed) {
  std::set<const model::Job*> others;  // whose capacity is counted already, or may be taken by the claim
  NodeAmounts leaving = leftOfVictims(others);
  in_.preemption.withdraw(claim);
  PendingReleases quotas;
  if (!isGuaranteed) {
    others.merge(in_.preemption.candidatesFor(preemptor));
    for (const model::Job* gang : leavingGangs(preemptor, claim, others)) {
      const NodeAmounts held = capacityHeldBy(*gang, in_.ledger);
      leaving.insert(leaving.end(), held.begin(), held.end());
      add(quotas, {in_.tree.queueOf(*gang), holdingsOf(in_.tree.capacity(), *gang)});
    }
  }
  if (!leaving.empty() && fitsOnceLeft(preemptor, widest, leaving, quotas)) return true;
  in_.preemption.apply(claim);
  return false;
}

// What claims of a moment ago, and of this cycle, leave of their victims. Adds the jobs of this cycle's
// changes to `counted`.
NodeAmounts ClaimSearch::leftOfVictims(std::set<const model::Job*>& counted) {
  NodeAmounts left = terminating().leftOfVictims();
  const auto addAll = [&](const NodeAmounts& more) { left.insert(left.end(), more.begin(), more.end()); };
  for (const Change& each : in_.schedule.changes) {
    counted.insert(each.job.get());
    if (each.kind == ChangeKind::kPreempt) addAll(capacityHeldBy(*each.job, in_.ledger));
    if (each.kind == ChangeKind::kShrink) addAll(amountsOf(*each.job, each.remove, in_.ledger));
  }
  if (!left.empty()) in_.wakeAt(in_.snapshot.now + kMinOverrun);
  return left;
}

bool ClaimSearch::fitsOnceLeft(const Preemptor& preemptor, std::size_t widest, const NodeAmounts& leaving,
                               const PendingReleases& quotas) {
  WhatIf gone(in_.ledger);
  gone.release(leaving);
  for (const auto& [queue, amounts] : quotas) in_.tree.discharge(queue, amounts, false);
  const bool fits = fitsNow(preemptor, widest);
  for (const auto& [queue, amounts] : quotas) in_.tree.charge(queue, amounts, false);
  return fits;
}

bool ClaimSearch::fitsNow(const Preemptor& preemptor, std::size_t widest) {
  const auto placement = in_.placer.tryPlace(*preemptor.job, widest);
  if (!placement) return false;
  const Amounts held = heldBy(in_.tree.capacity(), *preemptor.job, placement->assignments);
  return !exceededQuota(in_.tree, preemptor.queue, held, preemptor.job->spec.preemptible, Leaving::kIgnored);
}

// When members are gone: each time once, in order. The job does not settle for members that are gone later
// than it may find something else: what claims of a moment ago leave, gangs that it may preempt then, nodes
// farther apart. (Rejected: all times. A member that terminates slowly delayed a guarantee, although another
// gang became preemptible seconds later.)
std::vector<base::WallTime> ClaimSearch::endsWorthAwaiting(const PendingJob& pendingJob,
                                                           const Preemptor& preemptor) {
  std::vector<base::WallTime> ends = terminating().ends();
  const auto cutAt = [&](base::WallTime last) {
    ends.erase(std::upper_bound(ends.begin(), ends.end(), last), ends.end());
  };
  std::set<const model::Job*> victims;
  if (!leftOfVictims(victims).empty()) cutAt(in_.snapshot.now + kMinOverrun);
  if (const auto relaxed = in_.relaxesAt(pendingJob, in_.shapeOf(pendingJob))) cutAt(*relaxed);
  if (ends.empty()) return ends;
  std::vector<LaterCandidate> shrinking;
  for (const Change& each : in_.schedule.changes) {
    if (each.kind == ChangeKind::kShrink && each.preemptor)
      shrinking.push_back(afterShrink(each.job, Priorities(in_.snapshot).of(*each.job), in_.snapshot));
  }
  if (const auto later = in_.preemption.rights().firstGoneLater(preemptor, shrinking)) cutAt(*later);
  return ends;
}

// The gangs of which a member has left a node of the claim a moment ago, apart from its victims' nodes.
std::vector<const model::Job*> ClaimSearch::leavingGangs(const Preemptor& preemptor, const Claim& claim,
                                                         const std::set<const model::Job*>& except) {
  std::set<model::NodeName> nodes;
  for (const model::Assignment& each : claim.placement.assignments) nodes.insert(each.node);
  for (const Change& victim : claim.releases) {
    for (const model::Assignment& each : victim.remove) nodes.erase(each.node);
  }
  std::set<model::Uid> leaving;
  base::WallTime first = in_.snapshot.now;
  for (const model::FreedNode& each : in_.snapshot.freed) {
    if (!nodes.contains(each.node)) continue;
    leaving.insert(each.job);
    first = std::min(first, each.at);
  }
  std::vector<const model::Job*> gangs;
  if (leaving.empty() || first + kMinOverrun <= in_.snapshot.now) return gangs;
  for (const auto& [job, facts] : in_.request.cache.notes.holders()) {
    if (job->status.gang.proposal || except.contains(job.get()) || !leaving.contains(job->uid)) continue;
    if (facts.placedSince && *facts.placedSince < preemptor.job->created) gangs.push_back(job.get());
  }
  if (!gangs.empty()) in_.wakeAt(first + kMinOverrun);
  return gangs;
}

std::optional<Claim> ClaimSearch::searchShrinking(const Preemptor& preemptor, std::size_t widest) {
  auto claim = in_.preemption.claimShrinking(preemptor, widest);
  if (!claim || in_.placer.budget().exhausted()) return claim;
  const bool isGuaranteed = isWithinGuarantee(in_.tree, preemptor.queue, preemptor.demand);
  if (canWait(preemptor, widest, *claim, isGuaranteed)) return std::nullopt;
  return claim;
}

ClaimAnswer ClaimSearch::searchBeforeLeaving(const PendingJob& pendingJob, const Preemptor& preemptor,
                                             std::size_t widest, const Excess& limit) {
  const auto at = [&](base::WallTime goneBy) { return claimAtLimit(preemptor, widest, limit, goneBy); };
  ClaimAnswer best = at(base::WallTime::min());
  if (best.claim && !best.claim->yields.empty()) return best;
  if (best.claim) {
    ClaimAnswer fewer = at(victimsGoneBy(*best.claim));
    if (fewer.startsSoon) return fewer;
    if (fewer.claim && fewer.claim->releases.size() < best.claim->releases.size()) best = std::move(fewer);
  } else {
    best = firstOf(endsWorthAwaiting(pendingJob, preemptor), at);
    best.startsSoon = false;
  }
  if (best.claim && best.claim->yields.empty()) in_.preemption.apply(*best.claim);
  return best;
}

// As if of all that leaves below the limit only the members that are gone by then had gone. `startsSoon` if
// the job needs no claim then. The claim is not applied, unless it gives up starts.
ClaimAnswer ClaimSearch::claimAtLimit(const Preemptor& preemptor, std::size_t widest, const Excess& limit,
                                      base::WallTime goneBy) {
  const Amounts later = leavingAfter(goneBy, limit.queue);
  const NodeAmounts left = terminating().amounts(goneBy, in_.preemption.candidatesFor(preemptor));
  WhatIf gone(in_.ledger);
  gone.release(left);
  in_.tree.unmarkLeaving(limit.queue, later);
  ClaimAnswer answer;
  if (fitsNow(preemptor, widest)) {
    answer.startsSoon = true;
  } else {
    answer = in_.preemption.claimAwaiting(preemptor, widest);
    if (answer.claim && answer.claim->yields.empty()) in_.preemption.withdraw(*answer.claim);
  }
  in_.tree.markLeaving(limit.queue, later);
  return answer;
}

// What leaves this queue later than that. Members that are late count as later.
Amounts ClaimSearch::leavingAfter(base::WallTime goneBy, QueueTree::Index at) {
  const Amounts& all = in_.tree.node(at).leaving;
  Amounts rest = all;
  PendingReleases later;
  for (const TerminatingMember& each : terminating().members()) {
    if (each.job == nullptr) continue;
    const PendingRelease release = releaseOf(each);
    const auto& path = in_.tree.node(release.queue).path;
    if (std::find(path.begin(), path.end(), at) == path.end()) continue;
    if (each.goneBy <= goneBy) {
      addTo(rest, negated(release.amounts));
    } else {
      add(later, {at, release.amounts});
    }
  }
  if (later.empty()) later.emplace(at, negated(all));
  const Amounts& known = later.at(at);
  // `all` leaves out what counts for the jobs that wait for these members.
  for (std::size_t d = 0; d < rest.size(); ++d)
    rest[d] = std::min(all[d], std::max({rest[d], known[d], std::int64_t{0}}));
  return rest;
}

// Returns a claim with fewer victims if it is not later, else `answer`.
ClaimAnswer ClaimSearch::sparing(const PendingJob& pendingJob, const Preemptor& preemptor, std::size_t widest,
                                 ClaimAnswer answer) {
  const base::WallTime goneBy = victimsGoneBy(*answer.claim);
  if (terminating().members().front().goneBy > goneBy) return answer;
  in_.preemption.withdraw(*answer.claim);
  ClaimAnswer fewer = claimOnce(pendingJob, preemptor, widest, goneBy);
  const bool isBetter = fewer.claim && fewer.claim->yields.empty() &&
                        fewer.claim->releases.size() < answer.claim->releases.size();
  ClaimAnswer& better = isBetter ? fewer : answer;
  in_.preemption.apply(*better.claim);
  return std::move(better);
}

// Returns the claim that counts on members which are gone first.
ClaimAnswer ClaimSearch::earliest(const PendingJob& pendingJob, const Preemptor& preemptor,
                                  std::size_t widest) {
  ClaimAnswer best = firstOf(endsWorthAwaiting(pendingJob, preemptor), [&](base::WallTime goneBy) {
    return claimOnce(pendingJob, preemptor, widest, goneBy);
  });
  if (best.claim && best.claim->yields.empty()) in_.preemption.apply(*best.claim);
  return best;
}

// The answer for the first of these times, in order, that has one. Assumes that each later one has one, too.
ClaimAnswer ClaimSearch::firstOf(const std::vector<base::WallTime>& times,
                                 const std::function<ClaimAnswer(base::WallTime)>& at) {
  const auto suffices = [](const ClaimAnswer& answer) {
    return answer.startsSoon || (answer.claim && answer.claim->yields.empty());
  };
  if (times.empty()) return {};
  ClaimAnswer best = at(times.back());
  if (!suffices(best)) return best;
  std::size_t fails = 0;  // the number of first times that do not suffice
  for (std::size_t succeeds = times.size(); succeeds - fails > 1 && !in_.placer.budget().exhausted();) {
    const std::size_t middle = fails + (succeeds - fails) / 2;
    ClaimAnswer sooner = at(times[middle - 1]);
    if (suffices(sooner)) {
      best = std::move(sooner);
      succeeds = middle;
    } else {
      fails = middle;
    }
  }
  return best;
}

// As if the members that are gone by then had gone. The claim is not applied, unless it gives up starts.
ClaimAnswer ClaimSearch::claimOnce(const PendingJob& pendingJob, const Preemptor& preemptor,
                                   std::size_t widest, base::WallTime goneBy) {
  const NodeAmounts leaving = terminating().amounts(goneBy, in_.preemption.candidatesFor(preemptor));
  WhatIf gone(in_.ledger);
  gone.release(leaving);
  if (auto fits = placer_.placeSized(pendingJob, *preemptor.job, widest).placement)
    return {Claim{std::move(*fits), {}}};
  ClaimAnswer answer = in_.preemption.claimAwaiting(preemptor, widest);
  if (answer.claim && answer.claim->yields.empty()) in_.preemption.withdraw(*answer.claim);
  return answer;
}

const TerminatingCapacity& ClaimSearch::terminating() {
  if (!terminating_) terminating_.emplace(in_.ledger, in_.request.cache.notes.proposing(), in_.snapshot.now);
  return *terminating_;
}

base::WallTime ClaimSearch::victimsGoneBy(const Claim& claim) const {
  std::chrono::seconds longest{0};
  for (const Change& each : claim.releases)
    longest = std::max(longest, graceOf(*each.job, in_.snapshot.policy));
  return in_.snapshot.now + longest;
}

PendingRelease ClaimSearch::releaseOf(const TerminatingMember& member) const {
  return {in_.tree.queueOf(*member.job), heldBy(in_.tree.capacity(), *member.pod)};
}

std::vector<model::Victim> ClaimSearch::awaitedBy(const PendingJob& pendingJob, const Claim& claim,
                                                  const Amounts& held, PendingReleases& leaving) {
  if (!terminating_) return {};
  std::vector<const TerminatingMember*> awaited =
      terminating_->needed(*pendingJob.waiting->job, claim, in_.ledger);
  for (const TerminatingMember* each : awaited) {
    if (each->job != nullptr) add(leaving, releaseOf(*each));
  }
  if (!awaited.empty() || !claim.releases.empty()) {
    const std::unordered_set<const TerminatingMember*> needed(awaited.begin(), awaited.end());
    for (const TerminatingMember& each : terminating_->members()) {
      const auto beyond = beyondLimitCountedOnce(in_.tree, pendingJob.queue, held, leaving);
      if (!beyond) break;
      if (each.job == nullptr || needed.contains(&each)) continue;
      const PendingRelease release = releaseOf(each);
      const auto& path = in_.tree.node(release.queue).path;
      if (release.amounts[beyond->dimension] <= 0 ||
          std::find(path.begin(), path.end(), beyond->queue) == path.end())
        continue;
      add(leaving, release);
      awaited.push_back(&each);
    }
  }
  std::vector<model::Victim> victims;
  for (const TerminatingMember* each : awaited)
    victims.push_back({each->pod->key, each->pod->uid, each->pod->node});
  return victims;
}

}  // namespace trainyard::core
