#include "core/preemption/shrinks.h"

#include <algorithm>
#include <utility>

namespace trainyard::core {
namespace {

class ShrinkChooser {
 public:
  explicit ShrinkChooser(const ShrinkQuestion& question) : in_(question) {}

  std::optional<ShrinkChoice> run() {
    const std::size_t count = in_.candidates.size();
    std::vector<int> gives = allOf(count);
    if (count == 0 || !suffices(gives)) return std::nullopt;
    std::size_t tooFew = 0;
    std::size_t enough = count;
    while (enough - tooFew > 1) {
      const std::size_t middle = tooFew + (enough - tooFew) / 2;
      (suffices(allOf(middle)) ? enough : tooFew) = middle;
    }
    gives = allOf(enough);
    for (std::size_t i = enough; i-- > 0;) {
      int less = -1;  // does not suffice, as far as is known
      while (gives[i] - less > 1) {
        std::vector<int> fewer = gives;
        fewer[i] = less + (gives[i] - less) / 2;
        if (suffices(fewer)) {
          gives = std::move(fewer);
        } else {
          less = fewer[i];
        }
      }
    }
    auto placement = placedWhen(gives);
    if (!placement) return std::nullopt;
    return ShrinkChoice{std::move(gives), std::move(*placement)};
  }

 private:
  [[nodiscard]] std::vector<int> allOf(std::size_t first) const {
    std::vector<int> gives(in_.candidates.size(), 0);
    for (std::size_t i = 0; i < first; ++i) gives[i] = in_.candidates[i].most;
    return gives;
  }

  bool suffices(const std::vector<int>& gives) { return in_.quotaAllows(gives) && placedWhen(gives); }

  std::optional<Placement> placedWhen(const std::vector<int>& gives) {
    std::vector<NodeAmounts> given(gives.size());
    WhatIf whatIf(in_.ledger);
    for (std::size_t i = 0; i < gives.size(); ++i) {
      const NodeAmounts& frees = in_.candidates[i].frees;
      given[i].assign(frees.begin(), frees.begin() + gives[i]);
      whatIf.release(given[i]);
    }
    if (in_.placer.budget().exhausted()) return std::nullopt;
    return in_.place(gives);
  }

  const ShrinkQuestion& in_;
};

}  // namespace

std::optional<ShrinkChoice> chooseShrinks(const ShrinkQuestion& question) {
  return ShrinkChooser(question).run();
}

}  // namespace trainyard::core
