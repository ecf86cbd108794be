#pragma once

#include <cstdint>

#include "core/place/node_refusals.h"
#include "core/place/work_budget.h"

namespace trainyard::core {

// What one step of a cycle may spend on comparing nodes with long constraints (lookCost()).
//
// Assumes: templates say little about nodes, and those cost nothing here and are never left out; what was
// compared is remembered (NodeRefusals), so that the next cycle comes farther. Once the work is spent, whose
// constraints are long is not looked at in this cycle. (Lost: to count all looks alike. Then a backlog of
// long ones would keep everybody from growing.)
class NodeLooks {
 public:
  static constexpr std::int64_t kMost = 300'000;  // nodes of a WorkBudget

  NodeLooks(NodeRefusals& refusals, const model::SharedList<model::Node>& nodes) : refusals_(refusals) {
    refusals_.follow(nodes);
    begin();
  }

  [[nodiscard]] bool mayCompare(const model::PodShape& shape) {
    if (lookCost(shape) == 0) return true;
    budget_.spend(refusals_.takeWork());
    return !budget_.exhausted();
  }

  // For the next step, which mostly asks what the one before has found out.
  void begin() {
    static_cast<void>(refusals_.takeWork());
    budget_ = WorkBudget(kMost);
  }

  [[nodiscard]] NodeRefusals& refusals() { return refusals_; }

 private:
  NodeRefusals& refusals_;
  WorkBudget budget_{kMost};
};

}  // namespace trainyard::core
