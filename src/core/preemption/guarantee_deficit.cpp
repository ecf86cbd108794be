#include "core/preemption/guarantee_deficit.h"

#include <algorithm>

#include "base/saturating.h"

namespace trainyard::core {

GuaranteeDeficit::GuaranteeDeficit(const QueueTree& tree, QueueTree::Index claimant,
                                   const std::vector<Concession>& candidates)
    : tree_(tree), candidates_(candidates), above_(tree.size()) {
  const auto& own = tree.node(claimant).path;
  std::vector<char> known(tree.size(), 0);
  for (const Concession& candidate : candidates) {
    if (known[candidate.queue] != 0) continue;
    known[candidate.queue] = 1;
    for (const QueueTree::Index queue : tree.node(candidate.queue).path) {
      if (std::find(own.begin(), own.end(), queue) != own.end()) continue;
      const auto at = std::find(queues_.begin(), queues_.end(), queue);
      above_[candidate.queue].push_back(static_cast<std::size_t>(at - queues_.begin()));
      if (at == queues_.end()) queues_.push_back(queue);
    }
  }
  for (std::size_t d = 0; d < tree.dimensions().size(); ++d) {
    if (d < tree.cpu() || d >= tree.firstType()) gpus_.push_back(d);
  }
  touched_.resize(queues_.size());
  taken_.resize(queues_.size() * gpus_.size());
}

std::int64_t GuaranteeDeficit::of(const Chosen& gone) {
  if (queues_.empty()) return 0;
  std::fill(touched_.begin(), touched_.end(), char{0});
  std::fill(taken_.begin(), taken_.end(), 0);
  for (const std::size_t index : gone) {
    const Concession& candidate = candidates_[index];
    for (const std::size_t at : above_[candidate.queue]) {
      touched_[at] = 1;
      for (std::size_t i = 0; i < gpus_.size(); ++i) {
        std::int64_t& taken = taken_[at * gpus_.size() + i];
        taken = base::saturatingAdd(taken, candidate.held[gpus_[i]]);
      }
    }
  }
  std::int64_t deficit = 0;
  for (std::size_t at = 0; at < queues_.size(); ++at) {
    if (touched_[at] == 0) continue;
    const QueueTree::Node& node = tree_.node(queues_[at]);
    std::int64_t ofAny = 0;
    std::int64_t ofTypes = 0;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      const std::size_t d = gpus_[i];
      const std::int64_t left = base::saturatingSubtract(node.usage[d], taken_[at * gpus_.size() + i]);
      (d < tree_.cpu() ? ofAny : ofTypes) += std::max<std::int64_t>(node.guaranteed[d] - left, 0);
    }
    deficit += std::max(ofAny, ofTypes);
  }
  return deficit;
}

}  // namespace trainyard::core
