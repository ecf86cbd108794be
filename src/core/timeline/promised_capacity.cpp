#include "core/timeline/promised_capacity.h"

#include <cstddef>
#include <map>
#include <string_view>
#include <unordered_set>

namespace trainyard::core {
namespace {

// Returns the smaller amount of each resource.
model::Resources overlap(const model::Resources& a, const model::Resources& b) {
  model::Resources larger = a;
  larger.raiseTo(b);
  model::Resources smaller = a;
  smaller.add(b);
  smaller.subtract(larger);
  return smaller;
}

}  // namespace

PromisedCapacity promisedCapacity(const std::vector<std::shared_ptr<const model::Job>>& proposing,
                                  const Ledger& ledger) {
  PromisedCapacity capacity;
  for (const auto& preemptor : proposing) {
    const model::Proposal& claim = *preemptor->status.gang.proposal;
    if (claim.victims.empty()) continue;
    std::unordered_set<std::string_view> victims;
    for (const model::Victim& each : claim.victims) victims.insert(each.uid.str());
    std::map<std::size_t, model::Resources> wanted;
    for (const auto& [node, amount] : amountsOf(*preemptor, claim.add, ledger)) wanted[node].add(amount);
    for (auto& [node, open] : wanted) {
      ledger.forEachHolding(node, [&, at = node, &missing = open](const Ledger::Holding& holding) {
        if (holding.pod == nullptr || !victims.contains(holding.pod->uid.str())) return;
        const model::Resources passed = overlap(missing, holding.amount);
        missing.subtract(passed);
        capacity[preemptor->uid].emplace_back(at, passed);
        if (holding.job != nullptr) capacity[holding.job->uid].emplace_back(at, passed.times(-1));
      });
    }
  }
  return capacity;
}

}  // namespace trainyard::core
