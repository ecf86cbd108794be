#include "core/preemption/guarantee_deficit.h"

#include <algorithm>

#include "base/saturating.h"
#include "core/queues/queue_share.h"

namespace trainyard::core {
namespace {

std::int64_t shareOf(std::int64_t amount, std::int64_t capacity) {
  return amount <= 0 ? 0 : base::scaled(amount, kShareUnit, std::max<std::int64_t>(capacity, 1));
}

}  // namespace

GuaranteeDeficit::GuaranteeDeficit(const QueueTree& tree, const Preemptor& preemptor,
                                   const std::vector<Candidate>& candidates)
    : tree_(tree), preemptor_(preemptor), candidates_(candidates), above_(tree.size()) {
  std::vector<char> known(tree.size(), 0);
  for (const Candidate& candidate : candidates) {
    if (known[candidate.queue] != 0) continue;
    known[candidate.queue] = 1;
    for (const QueueTree::Index queue : tree.node(candidate.queue).path) {
      const auto at = std::find(queues_.begin(), queues_.end(), queue);
      above_[candidate.queue].push_back(static_cast<std::size_t>(at - queues_.begin()));
      if (at == queues_.end()) queues_.push_back(queue);
    }
  }
  for (std::size_t d = 0; d < tree.dimensions().firstGpuNodeResource(); ++d) {
    if (d < tree.dimensions().cpu()) allGpus_ = base::saturatingAdd(allGpus_, tree.capacity().available()[d]);
    const auto guaranteed = [&](QueueTree::Index queue) { return tree.node(queue).guaranteed[d] > 0; };
    if (std::any_of(queues_.begin(), queues_.end(), guaranteed)) dimensions_.push_back(d);
  }
  touched_.resize(queues_.size());
  taken_.resize(queues_.size() * dimensions_.size());
}

std::int64_t GuaranteeDeficit::of(const Chosen& victims) {
  if (dimensions_.empty()) return 0;
  std::fill(touched_.begin(), touched_.end(), char{0});
  std::fill(taken_.begin(), taken_.end(), 0);
  for (const std::size_t index : victims) {
    const Candidate& candidate = candidates_[index];
    for (const std::size_t at : above_[candidate.queue]) {
      touched_[at] = 1;
      for (std::size_t i = 0; i < dimensions_.size(); ++i) {
        std::int64_t& taken = taken_[at * dimensions_.size() + i];
        taken = base::saturatingAdd(taken, candidate.held[dimensions_[i]]);
      }
    }
  }
  const auto& own = tree_.node(preemptor_.queue).path;
  std::int64_t deficit = 0;
  for (std::size_t at = 0; at < queues_.size(); ++at) {
    if (touched_[at] == 0) continue;
    const QueueTree::Node& node = tree_.node(queues_[at]);
    const bool isOwn = std::find(own.begin(), own.end(), queues_[at]) != own.end();
    std::int64_t ofAny = 0;
    std::int64_t ofTypes = 0;
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
      const std::size_t d = dimensions_[i];
      const std::int64_t taken = taken_[at * dimensions_.size() + i];
      std::int64_t left = base::saturatingSubtract(node.usage[d], taken);
      if (isOwn) left = base::saturatingAdd(left, preemptor_.demand[d]);
      std::int64_t lacks = std::max<std::int64_t>(node.guaranteed[d] - left, 0);
      if (isOwn) lacks = std::min(lacks, taken);
      if (d < tree_.dimensions().cpu() || d >= tree_.dimensions().firstType()) {
        (d < tree_.dimensions().cpu() ? ofAny : ofTypes) += lacks;
      } else {
        deficit = base::saturatingAdd(deficit, shareOf(lacks, tree_.capacity().available()[d]));
      }
    }
    deficit = base::saturatingAdd(deficit, shareOf(std::max(ofAny, ofTypes), allGpus_));
  }
  return deficit;
}

}  // namespace trainyard::core
