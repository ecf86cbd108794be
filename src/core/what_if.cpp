#include "core/what_if.h"

#include <algorithm>

namespace trainyard::core {

NodeAmounts roomHeldBy(const model::Job& job, const Ledger& ledger) {
  NodeAmounts held;
  if (!job.status.gang.placed) return held;
  std::vector<std::size_t> nodes;
  for (const model::Assignment& assignment : job.status.gang.placed->assignments) {
    if (const auto node = ledger.find(assignment.node)) nodes.push_back(*node);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (const std::size_t node : nodes) {
    model::Resources amount;
    ledger.forEachHolding(node, [&](const Ledger::Holding& holding) {
      if (holding.job != nullptr && holding.job->uid == job.uid) amount.add(holding.amount);
    });
    held.emplace_back(node, std::move(amount));
  }
  return held;
}

}  // namespace trainyard::core
