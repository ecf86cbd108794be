#include "core/ledger/what_if.h"

#include <algorithm>

namespace trainyard::core {

NodeAmounts amountsOf(const model::Job& job, const std::vector<model::Assignment>& assignments,
                      const Ledger& ledger) {
  NodeAmounts amounts;
  for (const model::Assignment& place : assignments) {
    const model::Role* role = job.spec.findRole(place.role);
    const auto node = ledger.find(place.node);
    if (role == nullptr || !node) continue;
    amounts.emplace_back(*node, role->shape.requests.times(static_cast<std::int64_t>(place.indices.size())));
  }
  return amounts;
}

NodeAmounts capacityHeldBy(const model::Job& job, const Ledger& ledger) {
  NodeAmounts held;
  std::vector<std::size_t> nodes;
  const auto note = [&](const std::vector<model::Assignment>& assignments) {
    for (const model::Assignment& assignment : assignments) {
      if (const auto node = ledger.find(assignment.node)) nodes.push_back(*node);
    }
  };
  if (job.status.gang.placed) note(job.status.gang.placed->assignments);
  if (job.status.gang.proposal) note(job.status.gang.proposal->add);
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
