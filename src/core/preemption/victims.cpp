#include "core/preemption/victims.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace trainyard::core {
namespace {

using Chosen = std::vector<std::size_t>;

class Search {
 public:
  explicit Search(const VictimQuestion& question)
      : in_(question), candidates_(question.candidates), together_(question.together) {}

  std::optional<VictimChoice> run() {
    Chosen all(candidates_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (!placedWithout(all)) return std::nullopt;
    if (consider(together_)) {
      shortestRun();
      spare();
    }
    if (candidates_.size() <= kExactCandidates) {
      tryAllUpTo(best_ ? best_->victims.size() : candidates_.size());
    } else if (!best_ || best_->victims.size() > 1) {
      tryAlone();
    }
    return std::move(best_);
  }

 private:
  Chosen firstOf(std::size_t count) const {
    return {together_.begin(), together_.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  std::optional<Placement> placedWithout(const Chosen& chosen) {
    WhatIf gone(in_.ledger);
    for (const std::size_t victim : chosen) gone.release(candidates_[victim].holds);
    return in_.tryPlace();
  }

  // Takes it for the best so far when it suffices.
  bool consider(const Chosen& chosen) {
    if (chosen.empty() || !in_.quotaAllows(chosen)) return false;
    ++tried_;
    auto placement = placedWithout(chosen);
    if (!placement) return false;
    best_ = {chosen, std::move(*placement)};
    return true;
  }

  void shortestRun() {
    std::size_t tooFew = 0;  // nobody: that was tried before anybody asked
    std::size_t enough = together_.size();
    while (enough - tooFew > 1) {
      const std::size_t middle = tooFew + (enough - tooFew) / 2;
      (consider(firstOf(middle)) ? enough : tooFew) = middle;
    }
  }

  void spare() {
    const Chosen before = best_->victims;
    for (auto dearest = before.rbegin(); dearest != before.rend(); ++dearest) {
      Chosen without = best_->victims;
      std::erase(without, *dearest);
      consider(without);
    }
  }

  void tryAlone() {
    const std::size_t most = std::min(candidates_.size(), kTriedAlone);
    for (std::size_t i = 0; i < most; ++i) {
      if (consider({i})) return;
    }
  }

  [[nodiscard]] auto costOf(const Chosen& chosen) const {
    std::int64_t lost = 0;
    for (const std::size_t victim : chosen) lost += candidates_[victim].lostWork;
    return std::tuple(chosen.size(), lost);
  }

  void tryAllUpTo(std::size_t size) {
    std::vector<Chosen> sets;
    for (std::uint32_t mask = 1; mask < (1U << candidates_.size()); ++mask) {
      Chosen chosen;
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if ((mask >> i & 1U) != 0) chosen.push_back(i);  // NOLINT(*-naming)
      }
      const bool better = !best_ || costOf(chosen) < costOf(best_->victims);
      if (chosen.size() <= size && better) sets.push_back(std::move(chosen));
    }
    std::stable_sort(sets.begin(), sets.end(), [&](const Chosen& a, const Chosen& b) {
      return std::pair(costOf(a), a) < std::pair(costOf(b), b);
    });
    tried_ = 0;
    for (const Chosen& chosen : sets) {
      if (tried_ >= kTriedSets || (in_.mayStopAll(chosen) && consider(chosen))) return;
    }
  }

  const VictimQuestion& in_;
  const std::vector<Evictable>& candidates_;
  const Chosen& together_;
  std::optional<VictimChoice> best_;
  int tried_ = 0;
};

}  // namespace

std::optional<VictimChoice> chooseVictims(const VictimQuestion& question) {
  if (question.candidates.empty()) return std::nullopt;
  return Search(question).run();
}

void sortByCost(std::vector<Evictable>& candidates) {
  std::sort(candidates.begin(), candidates.end(), [](const Evictable& a, const Evictable& b) {
    return std::tie(a.priority, a.lostWork, a.job->key) < std::tie(b.priority, b.lostWork, b.job->key);
  });
}

}  // namespace trainyard::core
