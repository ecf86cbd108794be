#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/ledger/ledger.h"
#include "model/job.h"

namespace trainyard::core {

// Amounts of capacity by node, as an index into Ledger::nodes().
using NodeAmounts = std::vector<std::pair<std::size_t, model::Resources>>;

// Returns the requests of the job's members on these nodes; skips roles and nodes that no longer exist.
[[nodiscard]] NodeAmounts amountsOf(const model::Job& job, const std::vector<model::Assignment>& assignments,
                                    const Ledger& ledger);
// Returns the capacity that the job uses by the ledger, on all nodes of its record, placed and proposed.
[[nodiscard]] NodeAmounts capacityHeldBy(const model::Job& job, const Ledger& ledger);

// A what-if question to the ledger: releases and takes capacity, and restores all of it when it ends.
class WhatIf {
 public:
  explicit WhatIf(Ledger& ledger) : ledger_(ledger) {}
  ~WhatIf() {
    for (const auto* amounts : released_) {
      for (const auto& [node, amount] : *amounts) ledger_.holdings_.lower(node, amount);
    }
    for (const auto& [node, amount] : taken_) ledger_.holdings_.raise(node, amount);
  }
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  // `amounts` must outlive this.
  void release(const NodeAmounts& amounts) {
    for (const auto& [node, amount] : amounts) ledger_.holdings_.raise(node, amount);
    released_.push_back(&amounts);
  }
  void release(NodeAmounts&& amounts) = delete;
  void take(const NodeAmounts& amounts) {
    for (const auto& [node, amount] : amounts) ledger_.holdings_.lower(node, amount);
    taken_.insert(taken_.end(), amounts.begin(), amounts.end());
  }

 private:
  Ledger& ledger_;
  std::vector<const NodeAmounts*> released_;
  NodeAmounts taken_;
};

}  // namespace trainyard::core
