#include "core/victims.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace trainyard::core {
namespace {

using Chosen = std::vector<std::size_t>;

class Search {
 public:
  Search(const std::vector<Evictable>& candidates, Ledger& ledger,
         const std::function<std::optional<Placement>()>& tryPlace,
         const std::function<bool(const Chosen&)>& quotaAllows)
      : candidates_(candidates), ledger_(ledger), tryPlace_(tryPlace), quotaAllows_(quotaAllows) {}

  std::optional<VictimChoice> run() {
    if (!consider(firstOf(candidates_.size()))) return std::nullopt;
    shortestRun();
    spare();
    if (candidates_.size() <= kExactCandidates) {
      tryAllUpTo(best_.victims.size());
    } else if (best_.victims.size() > 1) {
      tryAlone();
    }
    return std::move(best_);
  }

 private:
  static Chosen firstOf(std::size_t count) {
    Chosen chosen(count);
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    return chosen;
  }

  // Takes it for the best so far when it suffices.
  bool consider(const Chosen& chosen) {
    if (!quotaAllows_(chosen)) return false;
    WhatIf gone(ledger_);
    for (const std::size_t victim : chosen) gone.release(candidates_[victim].holds);
    auto placement = tryPlace_();
    if (!placement) return false;
    best_ = {chosen, std::move(*placement)};
    return true;
  }

  void shortestRun() {
    std::size_t tooFew = 0;  // nobody: that was tried before anybody asked
    std::size_t enough = candidates_.size();
    while (enough - tooFew > 1) {
      const std::size_t middle = tooFew + (enough - tooFew) / 2;
      (consider(firstOf(middle)) ? enough : tooFew) = middle;
    }
  }

  void spare() {
    const Chosen before = best_.victims;
    for (auto dearest = before.rbegin(); dearest != before.rend(); ++dearest) {
      Chosen without = best_.victims;
      std::erase(without, *dearest);
      if (!without.empty()) consider(without);
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
      if (chosen.size() <= size && costOf(chosen) < costOf(best_.victims)) sets.push_back(std::move(chosen));
    }
    std::stable_sort(sets.begin(), sets.end(), [&](const Chosen& a, const Chosen& b) {
      return std::pair(costOf(a), a) < std::pair(costOf(b), b);
    });
    for (const Chosen& chosen : sets) {
      if (consider(chosen)) return;
    }
  }

  const std::vector<Evictable>& candidates_;
  Ledger& ledger_;
  const std::function<std::optional<Placement>()>& tryPlace_;
  const std::function<bool(const Chosen&)>& quotaAllows_;
  VictimChoice best_;
};

}  // namespace

std::optional<VictimChoice> chooseVictims(const std::vector<Evictable>& candidates, Ledger& ledger,
                                          const std::function<std::optional<Placement>()>& tryPlace,
                                          const std::function<bool(const Chosen&)>& quotaAllows) {
  if (candidates.empty()) return std::nullopt;
  return Search(candidates, ledger, tryPlace, quotaAllows).run();
}

void sortByCost(std::vector<Evictable>& candidates) {
  std::sort(candidates.begin(), candidates.end(), [](const Evictable& a, const Evictable& b) {
    return std::tie(a.priority, a.lostWork, a.job->key) < std::tie(b.priority, b.lostWork, b.job->key);
  });
}

}  // namespace trainyard::core
