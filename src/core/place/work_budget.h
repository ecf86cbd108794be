#pragma once

#include <cstddef>
#include <cstdint>

#include "model/constraints.h"

namespace trainyard::core {

// How much a cycle may look at before it stops searching. The bound is on work, counted in nodes,
// so that every machine stops at the same place. (Rejected: time. A slow machine then plans
// differently from a fast one, and no run can be repeated.)
class WorkBudget {
 public:
  // About 200 ns each.
  static constexpr std::int64_t kPerCycle = 1'500'000;

  explicit WorkBudget(std::int64_t nodes = kPerCycle) : left_(nodes) {}

  void spend(std::int64_t nodes) { left_ -= nodes; }
  [[nodiscard]] bool exhausted() const { return left_ <= 0; }
  [[nodiscard]] std::int64_t left() const { return left_; }

 private:
  std::int64_t left_;
};

// The additional cost of comparing a node with the constraints of `shape`. A few terms are free: most jobs
// have none. Each further one is charged as a node, four times its real cost: long constraints are evaluated
// less often, and no cycle takes longer for them.
[[nodiscard]] inline std::int64_t lookCost(const model::PodShape& shape) {
  constexpr std::size_t kFreeTerms = 8;
  const std::size_t words = model::constraintTerms(shape);
  return words > kFreeTerms ? static_cast<std::int64_t>(words - kFreeTerms) : 0;
}

}  // namespace trainyard::core
