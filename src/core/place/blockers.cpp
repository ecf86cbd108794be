#include "core/place/blockers.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace trainyard::core {
namespace {

struct Share {
  std::int64_t amount = 0;
  std::int64_t gpus = 0;
  std::int64_t nodes = 0;
  std::uint32_t lastNode = UINT32_MAX;

  void add(std::int64_t more, std::int64_t moreGpus, std::uint32_t node) {
    amount += more;
    gpus += moreGpus;
    if (node != lastNode) ++nodes;
    lastNode = node;
  }
};

}  // namespace

Blockers findBlockers(const std::vector<std::uint32_t>& nodes, const std::string& scarce,
                      const model::ObjectKey& asking, const Ledger& ledger) {
  std::unordered_map<const model::Job*, Share> shares;
  Share foreignPods;
  Blockers blockers;
  for (const std::uint32_t node : nodes) {
    ledger.forEachHolding(node, [&](const Ledger::Holding& holding) {
      const std::int64_t amount = holding.amount.amount(scarce);
      if (amount <= 0) return;
      if (holding.job != nullptr) {
        if (holding.job->key != asking) shares[holding.job].add(amount, holding.amount.gpus(), node);
        return;
      }
      if (holding.pod == nullptr || holding.pod->controllerKind == "DaemonSet") return;
      if (blockers.pods++ == 0) blockers.firstPod = holding.pod->key;
      foreignPods.add(amount, holding.amount.gpus(), node);
    });
  }
  blockers.podNodes = foreignPods.nodes;
  std::vector<std::pair<const model::Job*, Share>> jobs(shares.begin(), shares.end());
  const auto named = std::min(kNamedBlockers, jobs.size());
  std::partial_sort(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(named), jobs.end(),
                    [](const auto& a, const auto& b) {
                      return a.second.amount != b.second.amount ? a.second.amount > b.second.amount
                                                                : a.first->key < b.first->key;
                    });
  for (std::size_t i = 0; i < named; ++i) {
    const auto& [job, share] = jobs[i];
    blockers.jobs.push_back(
        {.key = job->key, .uid = job->uid, .amount = share.amount, .gpus = share.gpus, .nodes = share.nodes});
  }
  blockers.moreJobs = static_cast<std::int64_t>(jobs.size() - named);
  return blockers;
}

}  // namespace trainyard::core
