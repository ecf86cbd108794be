#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/ledger.h"
#include "model/job.h"

namespace trainyard::core {

// Room of nodes, by index into Ledger::nodes().
using NodeAmounts = std::vector<std::pair<std::size_t, model::Resources>>;

// What the job holds now by the ledger, pods and places, on the nodes of its record, placed and proposed.
[[nodiscard]] NodeAmounts roomHeldBy(const model::Job& job, const Ledger& ledger);

// A question to the ledger, "if these were gone": what it releases is taken back when it ends.
class WhatIf {
 public:
  explicit WhatIf(Ledger& ledger) : ledger_(ledger) {}
  ~WhatIf() {
    for (const auto* amounts : released_) {
      for (const auto& [node, amount] : *amounts) ledger_.lower(node, amount);
    }
  }
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  // `amounts` must outlive this.
  void release(const NodeAmounts& amounts) {
    for (const auto& [node, amount] : amounts) ledger_.raise(node, amount);
    released_.push_back(&amounts);
  }

 private:
  Ledger& ledger_;
  std::vector<const NodeAmounts*> released_;
};

}  // namespace trainyard::core
