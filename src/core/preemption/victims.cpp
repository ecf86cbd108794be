#include "core/preemption/victims.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "base/saturating.h"
#include "core/ledger/what_if.h"
#include "core/preemption/emptied_nodes.h"

namespace trainyard::core {
namespace {

// The cost of a set of victims, whose lists it does not own.
struct CostView {
  std::int64_t deficit = 0;
  std::span<const int> priorities = {};  // those in the preemptor's own queue, the highest first
  std::int64_t lost = 0;
  std::span<const std::size_t> victims = {};
};

// The order of sets (victims.h).
bool isBetter(const CostView& a, const CostView& b) {
  if (a.deficit != b.deficit) return a.deficit < b.deficit;
  if (a.victims.size() != b.victims.size()) return a.victims.size() < b.victims.size();
  const auto byPriority = std::lexicographical_compare_three_way(a.priorities.begin(), a.priorities.end(),
                                                                 b.priorities.begin(), b.priorities.end());
  if (byPriority != 0) return byPriority < 0;
  if (a.lost != b.lost) return a.lost < b.lost;
  return std::lexicographical_compare(a.victims.begin(), a.victims.end(), b.victims.begin(), b.victims.end());
}

struct Cost {
  std::int64_t deficit = 0;
  std::vector<int> priorities = {};
  std::int64_t lost = 0;
  Chosen victims = {};
  [[nodiscard]] CostView view() const { return {deficit, priorities, lost, victims}; }
};

// Up to kExactCandidates candidates, a bit for each.
using Set = std::uint32_t;

// A set with its cost, without heap memory: there may be a thousand sets.
struct VictimSet {
  Set set = 0;
  std::int64_t deficit = 0;
  std::array<int, kExactCandidates> priorities = {};
  std::size_t ofItsQueue = 0;  // of `priorities`
  std::int64_t lost = 0;
  std::array<std::size_t, kExactCandidates> victims = {};
  std::size_t count = 0;  // of `victims`
  [[nodiscard]] CostView view() const {
    return {deficit, {priorities.data(), ofItsQueue}, lost, {victims.data(), count}};
  }
};

class VictimSearch {
 public:
  explicit VictimSearch(const VictimQuestion& question)
      : in_(question), candidates_(question.candidates), together_(question.together) {}

  std::optional<VictimChoice> run() {
    Chosen all(candidates_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (!placedWithout(all)) return std::nullopt;
    if (consider(together_)) {
      shortestRun(together_);
      shortestRun(mostFirst());
      for (const Chosen& nodes : cheapestNodes(in_.preemptor, in_.widest, candidates_, together_, in_.ledger,
                                               in_.placer.domains(), in_.placer.refusals()))
        consider(nodes);
      spare();
    }
    if (candidates_.size() <= kExactCandidates) {
      tryAll();
    } else if (!best_ || best_->victims.size() > 1) {
      tryAlone();
    }
    return std::move(best_);
  }

 private:
  std::optional<Placement> placedWithout(const Chosen& chosen) {
    WhatIf whatIf(in_.ledger);
    for (const std::size_t victim : chosen) whatIf.release(candidates_[victim].frees);
    return in_.place(chosen);
  }

  // Returns whether these victims suffice. Keeps them, or those that are needed, if they are the best yet.
  bool consider(const Chosen& chosen) {
    if (chosen.empty() || in_.placer.budget().exhausted() || !in_.quotaAllows(chosen, nullptr)) return false;
    ++tried_;
    auto placement = placedWithout(chosen);
    if (!placement) return false;
    Chosen needed = neededOf(chosen, *placement);
    Cost cost = costOf(needed);
    if (best_ && !isBetter(cost.view(), bestCost_.view())) return true;
    bestCost_ = std::move(cost);
    best_ = {std::move(needed), std::move(*placement)};
    return true;
  }

  // Drops the victims that hold no node of the placement, unless the quota needs them.
  Chosen neededOf(const Chosen& chosen, const Placement& placement) const {
    std::set<std::size_t> taken;
    for (const model::Assignment& place : placement.assignments) taken.insert(*in_.ledger.find(place.node));
    Chosen needed;
    for (const std::size_t victim : chosen) {
      const auto& frees = candidates_[victim].frees;
      const bool touches = std::any_of(frees.begin(), frees.end(),
                                       [&](const auto& each) { return taken.contains(each.first); });
      if (touches) needed.push_back(victim);
    }
    return needed.size() < chosen.size() && in_.quotaAllows(needed, &placement) ? needed : chosen;
  }

  // The shortest run that suffices, of the given order of gangs that may be preempted together.
  void shortestRun(const Chosen& order) {
    std::size_t tooFew = 0;  // no victims: tried before preemption was considered
    std::size_t enough = order.size();
    while (enough - tooFew > 1) {
      const std::size_t middle = tooFew + (enough - tooFew) / 2;
      const Chosen first(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(middle));
      (consider(first) ? enough : tooFew) = middle;
    }
  }

  Chosen mostFirst() const {
    const auto gpusOf = [&](std::size_t victim) {
      std::int64_t gpus = 0;
      for (const auto& [node, amount] : candidates_[victim].frees)
        gpus = base::saturatingAdd(gpus, amount.gpus());
      return gpus;
    };
    std::vector<std::pair<std::int64_t, std::size_t>> order;
    order.reserve(together_.size());
    for (const std::size_t victim : together_) order.emplace_back(-gpusOf(victim), victim);
    std::stable_sort(order.begin(), order.end());
    Chosen most;
    most.reserve(order.size());
    for (const auto& [gpus, victim] : order) most.push_back(victim);
    return most;
  }

  void spare() {
    const Chosen before = best_->victims;
    int tries = 0;
    for (auto dearest = before.rbegin(); dearest != before.rend() && tries < kMaxSpared; ++dearest) {
      Chosen without = best_->victims;
      if (std::erase(without, *dearest) == 0) continue;
      ++tries;
      consider(without);
    }
  }

  void tryAlone() {
    std::size_t tried = 0;
    for (std::size_t i = 0; i < candidates_.size() && tried < kTriedAlone; ++i) {
      if (candidates_[i].job->status.gpus < in_.gpus) continue;
      ++tried;
      if (in_.mayPreemptAll({i}) && consider({i}) && bestCost_.deficit == 0) return;
    }
  }

  [[nodiscard]] Cost costOf(const Chosen& chosen) const {
    std::int64_t lost = 0;
    std::vector<int> priorities;
    for (const std::size_t victim : chosen) {
      lost += candidates_[victim].cost;
      // Priorities of different queues are not comparable.
      if (candidates_[victim].queue == in_.queue) priorities.push_back(candidates_[victim].priority);
    }
    std::sort(priorities.rbegin(), priorities.rend());
    return {in_.deficit(chosen), std::move(priorities), lost, chosen};
  }

  // All sets of a few candidates, the best first. More victims never fit worse, and a subset of gangs that
  // may be preempted together may be, too: the result of one set thus excludes many others.
  void tryAll() {
    tried_ = 0;
    if (!best_) findNeeded();
    for (const VictimSet& victimSet : betterSets()) {
      if (tried_ >= kTriedSets || in_.placer.budget().exhausted()) return;
      const auto within = [&](Set all) { return (victimSet.set & ~all) == 0; };
      const auto holds = [&](Set part) { return (part & ~victimSet.set) == 0; };
      if (std::any_of(tooFew_.begin(), tooFew_.end(), within)) continue;
      if (std::any_of(tooMany_.begin(), tooMany_.end(), holds)) continue;
      const Chosen chosen = chosenOf(victimSet.set);
      if (!in_.mayPreemptAll(chosen)) {
        tooMany_.push_back(victimSet.set);
      } else if (consider(chosen)) {
        return;
      } else {
        tooFew_.push_back(victimSet.set);
      }
    }
  }

  // Finds the candidates without which all the others do not suffice.
  void findNeeded() {
    Set together = 0;
    for (const std::size_t index : together_) together |= Set{1} << index;
    tooFew_.push_back(together);
    const Set all = (Set{1} << candidates_.size()) - 1;
    for (std::size_t i = 0; i < candidates_.size() && candidates_.size() > 1; ++i) {
      const Set others = all & ~(Set{1} << i);
      const Chosen chosen = chosenOf(others);
      if (!in_.quotaAllows(chosen, nullptr) || !placedWithout(chosen)) tooFew_.push_back(others);
    }
  }

  // The sets that are better than the best so far, the best first.
  std::vector<VictimSet> betterSets() {
    std::vector<VictimSet> betterSets;
    Chosen chosen;
    for (Set set = 1; set < Set{1} << candidates_.size(); ++set) {
      if (std::any_of(tooFew_.begin(), tooFew_.end(), [&](Set all) { return (set & ~all) == 0; })) continue;
      chosen.clear();
      VictimSet victimSet;
      victimSet.set = set;
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if ((set >> i & 1U) == 0) continue;  // NOLINT(*-naming)
        if (candidates_[i].queue == in_.queue)
          victimSet.priorities[victimSet.ofItsQueue++] = candidates_[i].priority;
        victimSet.lost += candidates_[i].cost;
        victimSet.victims[victimSet.count++] = i;
        chosen.push_back(i);
      }
      std::sort(victimSet.priorities.begin(),
                victimSet.priorities.begin() + static_cast<std::ptrdiff_t>(victimSet.ofItsQueue),
                std::greater<>());
      victimSet.deficit = in_.deficit(chosen);
      if (best_ && !isBetter(victimSet.view(), bestCost_.view())) continue;
      betterSets.push_back(victimSet);
    }
    std::sort(betterSets.begin(), betterSets.end(),
              [](const VictimSet& a, const VictimSet& b) { return isBetter(a.view(), b.view()); });
    return betterSets;
  }

  static Chosen chosenOf(Set set) {
    Chosen chosen;
    for (std::size_t i = 0; set != 0; ++i, set >>= 1U) {
      if ((set & 1U) != 0) chosen.push_back(i);
    }
    return chosen;
  }

  const VictimQuestion& in_;
  const std::vector<Candidate>& candidates_;
  const Chosen& together_;
  std::optional<VictimChoice> best_;
  Cost bestCost_;
  int tried_ = 0;
  std::vector<Set> tooFew_;   // known not to suffice, nor do their subsets
  std::vector<Set> tooMany_;  // known not to be preemptible together, nor are their supersets
};

}  // namespace

std::optional<VictimChoice> chooseVictims(const VictimQuestion& question) {
  if (question.candidates.empty()) return std::nullopt;
  return VictimSearch(question).run();
}

}  // namespace trainyard::core
