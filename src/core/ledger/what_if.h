#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/ledger/ledger.h"
#include "model/job.h"

namespace trainyard::core {

// Room of nodes, by index into Ledger::nodes().
using NodeAmounts = std::vector<std::pair<std::size_t, model::Resources>>;

// What members of the job take on these places; places of a role or node that is gone count nowhere.
[[nodiscard]] NodeAmounts amountsOf(const model::Job& job, const std::vector<model::Assignment>& places,
                                    const Ledger& ledger);
// What the job holds now by the ledger, pods and places, on the nodes of its record, placed and proposed.
[[nodiscard]] NodeAmounts roomHeldBy(const model::Job& job, const Ledger& ledger);

// A question to the ledger, "if these were gone, and those there": all is as before when it ends.
class WhatIf {
 public:
  explicit WhatIf(Ledger& ledger) : ledger_(ledger) {}
  ~WhatIf() {
    for (const auto* amounts : released_) {
      for (const auto& [node, amount] : *amounts) ledger_.lower(node, amount);
    }
    for (const auto& [node, amount] : taken_) ledger_.raise(node, amount);
  }
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  // `amounts` must outlive this.
  void release(const NodeAmounts& amounts) {
    for (const auto& [node, amount] : amounts) ledger_.raise(node, amount);
    released_.push_back(&amounts);
  }
  void take(const NodeAmounts& amounts) {
    for (const auto& [node, amount] : amounts) ledger_.lower(node, amount);
    taken_.insert(taken_.end(), amounts.begin(), amounts.end());
  }

 private:
  Ledger& ledger_;
  std::vector<const NodeAmounts*> released_;
  NodeAmounts taken_;
};

}  // namespace trainyard::core
