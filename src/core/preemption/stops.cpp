#include "core/preemption/stops.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "core/ledger/what_if.h"
#include "core/preemption/emptied_nodes.h"

namespace trainyard::core {
namespace {

class Search {
 public:
  explicit Search(const StopQuestion& question)
      : in_(question), candidates_(question.candidates), together_(question.together) {}

  std::optional<StopChoice> run() {
    Chosen all(candidates_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (!placedWithout(all)) return std::nullopt;
    if (consider(together_)) {
      shortestRun(together_);
      shortestRun(mostFirst());
      for (const Chosen& nodes :
           cheapestNodes(in_.claimant, in_.widest, candidates_, together_, in_.ledger, in_.placer.domains()))
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
  using Cost = std::tuple<std::int64_t, std::size_t, std::vector<int>, std::int64_t, Chosen>;

  std::optional<Placement> placedWithout(const Chosen& chosen) {
    WhatIf gone(in_.ledger);
    for (const std::size_t victim : chosen) gone.release(candidates_[victim].frees);
    return in_.place(chosen);
  }

  // Whether these suffice; takes them, or what of them is needed, for the best so far when they are better.
  bool consider(const Chosen& chosen) {
    if (chosen.empty() || in_.placer.budget().exhausted() || !in_.quotaAllows(chosen, nullptr)) return false;
    ++tried_;
    auto placement = placedWithout(chosen);
    if (!placement) return false;
    Chosen needed = neededOf(chosen, *placement);
    Cost cost = costOf(needed);
    if (best_ && cost >= bestCost_) return true;
    bestCost_ = std::move(cost);
    best_ = {std::move(needed), std::move(*placement)};
    return true;
  }

  // Without those whose nodes are not taken, unless the quota needs them.
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

  // Of an order of those that may be stopped together, the shortest run that suffices.
  void shortestRun(const Chosen& order) {
    std::size_t tooFew = 0;  // nobody: that was tried before anybody asked
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
      for (const auto& [node, amount] : candidates_[victim].frees) gpus += amount.gpus();
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
    for (auto dearest = before.rbegin(); dearest != before.rend() && tries < kMostSpared; ++dearest) {
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
      if (in_.mayStopAll({i}) && consider({i}) && std::get<0>(bestCost_) == 0) return;
    }
  }

  [[nodiscard]] Cost costOf(const Chosen& chosen) const {
    std::int64_t lost = 0;
    std::vector<int> priorities;
    for (const std::size_t victim : chosen) {
      lost += candidates_[victim].cost;
      // Priorities of different queues are not to be compared.
      if (candidates_[victim].queue == in_.queue) priorities.push_back(candidates_[victim].priority);
    }
    std::sort(priorities.rbegin(), priorities.rend());
    return {in_.deficit(chosen), chosen.size(), std::move(priorities), lost, chosen};
  }

  void tryAll() {
    std::vector<std::pair<Cost, Chosen>> sets;
    for (std::uint32_t mask = 1; mask < (1U << candidates_.size()); ++mask) {
      Chosen chosen;
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if ((mask >> i & 1U) != 0) chosen.push_back(i);  // NOLINT(*-naming)
      }
      Cost cost = costOf(chosen);
      if (!best_ || cost < bestCost_) sets.emplace_back(std::move(cost), std::move(chosen));
    }
    std::sort(sets.begin(), sets.end());
    tried_ = 0;
    for (const auto& [cost, chosen] : sets) {
      if (tried_ >= kTriedSets || (in_.mayStopAll(chosen) && consider(chosen))) return;
    }
  }

  const StopQuestion& in_;
  const std::vector<Concession>& candidates_;
  const Chosen& together_;
  std::optional<StopChoice> best_;
  Cost bestCost_;
  int tried_ = 0;
};

}  // namespace

std::optional<StopChoice> chooseStops(const StopQuestion& question) {
  if (question.candidates.empty()) return std::nullopt;
  return Search(question).run();
}

void sortByCost(std::vector<Concession>& concessions) {
  std::sort(concessions.begin(), concessions.end(), [](const Concession& a, const Concession& b) {
    return std::tie(a.priority, a.cost, a.job->key) < std::tie(b.priority, b.cost, b.job->key);
  });
}

}  // namespace trainyard::core
