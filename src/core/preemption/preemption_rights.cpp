#include "core/preemption/preemption_rights.h"

#include <algorithm>

#include "core/queues/holdings.h"
#include "core/queues/quota_check.h"
#include "core/resize.h"
#include "core/timeline/reservation.h"

namespace trainyard::core {
namespace {

// Evaluating this many eligibility rules costs as much as looking at one node.
constexpr std::int64_t kRightsForANode = 10;

Victim victimOf(const Candidate& running) {
  return {.job = running.job.get(),
          .priority = running.priority,
          .queue = running.queue,
          .held = running.held,
          .isUnprotected = running.isUnprotected};
}

}  // namespace

void setCharged(QueueTree& tree, const std::vector<Candidate>& candidates, const Chosen& victims,
                bool isCharged) {
  for (const std::size_t index : victims) {
    const Candidate& victim = candidates[index];
    if (isCharged) {
      tree.charge(victim.queue, victim.held, false);
    } else {
      tree.discharge(victim.queue, victim.held, false);
    }
  }
}

std::vector<Candidate> PreemptionRights::candidatesFor(const Preemptor& preemptor) {
  std::vector<Candidate>& running = gangs_.preemptible();
  std::vector<Candidate> candidates;
  // Capacity on other nodes helps only if a quota is exceeded.
  const bool anywhere = beyondLimit(in_.tree, preemptor.queue, preemptor.demand).has_value();
  std::vector<char> pool;
  for (const std::size_t index : findCandidates(preemptor)) {
    Candidate& gang = running[index];
    if (in_.taken.contains(gang.job.get())) continue;
    if (gang.frees.empty()) gang.frees = capacityHeldBy(*gang.job, in_.ledger);
    if (pool.empty()) pool = poolOf(*preemptor.job, in_.ledger);
    if (anywhere || touches(gang.frees, pool)) candidates.push_back(gang);
  }
  return candidates;
}

std::optional<base::WallTime> PreemptionRights::firstGoneLater(const Preemptor& preemptor,
                                                               const std::vector<LaterCandidate>& shrinking) {
  if (gangs_.later().empty() && shrinking.empty()) return std::nullopt;
  const bool anywhere = beyondLimit(in_.tree, preemptor.queue, preemptor.demand).has_value();
  const std::vector<char> pool = poolOf(*preemptor.job, in_.ledger);
  std::optional<base::WallTime> first;
  for (const auto* gangs : {&gangs_.later(), &shrinking}) {
    spend(gangs->size());
    for (const LaterCandidate& each : *gangs) {
      const base::WallTime gone = each.from + graceOf(*each.job, in_.snapshot.policy);
      if (first && gone >= *first) continue;
      if (!mayPreemptLater(preemptor, each)) continue;
      if (anywhere || touches(capacityHeldBy(*each.job, in_.ledger), pool)) first = gone;
    }
  }
  return first;
}

bool PreemptionRights::mayPreemptLater(const Preemptor& preemptor, const LaterCandidate& gang) {
  const Amounts held = holdingsOf(in_.tree.capacity(), *gang.job);
  const Victim victim{.job = gang.job.get(),
                      .priority = gang.priority,
                      .queue = in_.tree.queueOf(*gang.job),
                      .held = held,
                      .isUnprotected = protectedUntil(*gang.job, in_.snapshot) <= gang.from};
  return hasRightToPreempt(preemptor, victim, in_.tree, shares_);
}

// Indices into RunningGangs::preemptible(), ascending. Equal gangs are checked once: thousands of gangs run.
std::vector<std::size_t> PreemptionRights::findCandidates(const Preemptor& preemptor) {
  const std::vector<Candidate>& running = gangs_.preemptible();
  std::vector<std::size_t> found;
  spend(gangs_.equivalent().size());
  for (const RunningGangs::EquivalentGangs& equivalent : gangs_.equivalent()) {
    if (hasRightToPreempt(preemptor, victimOf(running[equivalent.front()]), in_.tree, shares_))
      found.insert(found.end(), equivalent.begin(), equivalent.end());
  }
  addBackfilled(preemptor, found);
  if (in_.snapshot.policy.timeSlicing.enabled) addTimeSliced(preemptor, found);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void PreemptionRights::addBackfilled(const Preemptor& preemptor, std::vector<std::size_t>& found) {
  for (const std::size_t index : gangs_.backfilled()) {
    if (preemptsBackfilled(preemptor, victimOf(gangs_.preemptible()[index]), in_.tree, in_.snapshot.now))
      found.push_back(index);
  }
  spend(gangs_.backfilled().size());
}

void PreemptionRights::addTimeSliced(const Preemptor& preemptor, std::vector<std::size_t>& found) {
  const std::tuple asked{preemptor.queue, preemptor.priority, preemptor.queuePosition.learnt};
  const auto known = noTimeSliceFor_.find(asked);
  if (known != noTimeSliceFor_.end() && preemptor.queuePosition.expected >= known->second) return;
  const std::vector<std::size_t>& ofQueue = gangs_.timeSlicedOf(preemptor.queue);
  spend(ofQueue.size());
  bool any = false;
  for (const std::size_t index : ofQueue) {
    if (!mayTimeSlice(preemptor, gangs_.preemptible()[index])) continue;
    found.push_back(index);
    any = true;
  }
  if (!any) noTimeSliceFor_[asked] = preemptor.queuePosition.expected;
}

bool PreemptionRights::hasNoCandidate(QueueTree::Index queue, const QueuePosition& position,
                                      bool mayPreempt) {
  if (!mayPreempt) return true;
  const auto known = noTimeSliceFor_.find({queue, position.priority, position.learnt});
  if (known == noTimeSliceFor_.end() || position.expected < known->second) return false;
  spend(gangs_.equivalent().size());
  return true;
}

Chosen PreemptionRights::preemptibleTogether(const Preemptor& preemptor,
                                             const std::vector<Candidate>& candidates) {
  Chosen together;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!mayPreemptGang(preemptor, candidates[i])) continue;
    setCharged(in_.tree, candidates, {i}, false);
    together.push_back(i);
  }
  setCharged(in_.tree, candidates, together, true);
  return together;
}

// Tries the given order, then the smallest first: a queue may give back its largest gang only as the last.
bool PreemptionRights::mayPreemptAll(const Preemptor& preemptor, const std::vector<Candidate>& candidates,
                                     Chosen victims) {
  if (mayPreemptInOrder(preemptor, candidates, victims)) return true;
  std::stable_sort(victims.begin(), victims.end(), [&](std::size_t a, std::size_t b) {
    return candidates[a].job->status.gpus < candidates[b].job->status.gpus;
  });
  return mayPreemptInOrder(preemptor, candidates, victims);
}

bool PreemptionRights::mayPreemptInOrder(const Preemptor& preemptor, const std::vector<Candidate>& candidates,
                                         const Chosen& victims) {
  Chosen discharged;
  for (const std::size_t each : victims) {
    if (!mayPreemptGang(preemptor, candidates[each])) break;
    setCharged(in_.tree, candidates, {each}, false);
    discharged.push_back(each);
  }
  setCharged(in_.tree, candidates, discharged, true);
  return discharged.size() == victims.size();
}

bool PreemptionRights::mayPreempt(const Preemptor& preemptor, const Victim& victim) {
  return hasRightToPreempt(preemptor, victim, in_.tree, shares_) ||
         preemptsBackfilled(preemptor, victim, in_.tree, in_.snapshot.now);
}

bool PreemptionRights::mayPreemptGang(const Preemptor& preemptor, const Candidate& running) {
  if (preemptsBackfilled(preemptor, victimOf(running), in_.tree, in_.snapshot.now)) return true;
  if (running.isWithinMinRuntime) return false;
  return hasRightToPreempt(preemptor, victimOf(running), in_.tree, shares_) ||
         mayTimeSlice(preemptor, running);
}

bool PreemptionRights::mayTimeSlice(const Preemptor& preemptor, const Candidate& running) {
  return mayPreemptByTimeSlice(preemptor, *running.job, running.priority, running.queue, in_.tree,
                               in_.snapshot) &&
         isAhead(preemptor, gangs_.queuePositionOf(running));
}

int PreemptionRights::maxMembersGiven(const Preemptor& preemptor, const Candidate& running) {
  constexpr int kMaxAsked = 64;
  const model::Job& job = *running.job;
  const int has = elasticMembers(job);
  const int minimum = job.spec.elastic->minReplicas;
  int gives = std::max(has - desiredMembers(job), 0);
  const auto from = preemptibleFrom(job, in_.snapshot);
  if (!from || *from > in_.snapshot.now) return gives;
  const bool harmless = resizeMethod(job.spec) != ResizeMethod::kByRestart || isCheckpointable(job.spec);
  const bool within = running.queue == preemptor.queue && preemptor.priority >= running.priority &&
                      harmless && !forbidsPreemptionWithin(in_.tree.node(running.queue));
  if (preemptor.aboveMinimum) {
    const bool first = preemptor.priority > running.priority ||
                       preemptor.queuePosition.before(gangs_.queuePositionOf(running));
    return within && first ? std::max(has - minimum, gives) : gives;
  }
  if (within) return std::max(has - minimum, 0);
  const ClusterCapacity& capacity = in_.tree.capacity();
  const Amounts whole = holdingsOf(capacity, job);
  Amounts before = heldBy(capacity, job, lastMembers(job, gives));
  for (int asked = 0; gives < has - minimum && asked < kMaxAsked; ++asked) {
    const Amounts together = heldBy(capacity, job, lastMembers(job, gives + 1));
    // Only the next member: those before it are discharged.
    Amounts held = together;
    for (std::size_t i = 0; i < held.size(); ++i) held[i] -= before[i];
    in_.tree.discharge(running.queue, before, false);
    Amounts remaining = whole;
    for (std::size_t i = 0; i < held.size(); ++i) remaining[i] -= before[i];
    const bool may = mayPreempt(preemptor, {.job = &job,
                                            .priority = running.priority,
                                            .queue = running.queue,
                                            .held = held,
                                            .isUnprotected = running.isUnprotected,
                                            .whole = &remaining});
    in_.tree.charge(running.queue, before, false);
    if (!may) break;
    before = together;
    ++gives;
  }
  spend(static_cast<std::size_t>(gives + 1) * static_cast<std::size_t>(has));
  return gives;
}

void PreemptionRights::spend(std::size_t rights) {
  in_.placer.budget().spend(static_cast<std::int64_t>(rights) / kRightsForANode + 1);
}

}  // namespace trainyard::core
