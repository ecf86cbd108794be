#include "sim/scheduler/node_usage.h"

namespace trainyard::sim {

void NodeUsage::podChanged(const PodPtr& before, const PodPtr& after) {
  if (!after || after->pod.bound()) forget((after ? after : before)->pod.uid);
  if (before && usesNode(*before)) used_[before->pod.node].subtract(before->pod.shape.requests);
  if (after && usesNode(*after)) used_[after->pod.node].add(after->pod.shape.requests);
}

void NodeUsage::assume(const model::Pod& pod, const model::NodeName& node) {
  used_[node].add(pod.shape.requests);
  assumed_[pod.uid] = {node, pod.shape.requests};
}

void NodeUsage::forget(const model::Uid& pod) {
  const auto found = assumed_.find(pod);
  if (found == assumed_.end()) return;
  used_[found->second.node].subtract(found->second.requests);
  assumed_.erase(found);
}

model::Resources NodeUsage::freeOn(const model::Node& node) const {
  model::Resources free = node.allocatable;
  if (const auto found = used_.find(node.name); found != used_.end()) free.subtract(found->second);
  return free;
}

}  // namespace trainyard::sim
