#pragma once

#include <cstdint>

namespace trainyard::core {

// How much a cycle may look at before it stops searching: what is bounded is work, counted in nodes, so that
// every machine stops at the same place. (Lost: time. Then a slow machine plans otherwise than a fast one,
// and no run can be repeated.)
class WorkBudget {
 public:
  // Some 200 ns each.
  static constexpr std::int64_t kPerCycle = 1'500'000;

  explicit WorkBudget(std::int64_t nodes = kPerCycle) : left_(nodes) {}

  void spend(std::int64_t nodes) { left_ -= nodes; }
  [[nodiscard]] bool exhausted() const { return left_ <= 0; }
  [[nodiscard]] std::int64_t left() const { return left_; }

 private:
  std::int64_t left_;
};

}  // namespace trainyard::core
