#include "core/queues/queue_cache.h"

namespace trainyard::core {

std::shared_ptr<const ClusterCapacity> QueueCache::capacityOf(const model::Snapshot& snapshot) {
  Inputs inputs{QuotaDimensions(snapshot), guaranteesGpus(snapshot), snapshot.policy.gpuTypeLabel};
  if (capacity_ && inputs == inputs_ && nodes_.isSameAs(snapshot.nodes)) return capacity_;
  auto capacity = std::make_shared<const ClusterCapacity>(inputs.named, snapshot);
  if (!capacity_ || !capacity->countsAs(*capacity_)) {
    held_.clear();
    jobs_ = {};
  }
  inputs_ = std::move(inputs);
  nodes_ = snapshot.nodes;
  capacity_ = std::move(capacity);
  return capacity_;
}

}  // namespace trainyard::core
