#include "operator/assumed_pods.h"
#include "model/member_of.h"

#include <algorithm>
#include <utility>

namespace trainyard::operator_ {

AssumedPods::AssumedPods(kube::ClusterCache& cache, kube::ObjectCache<model::VolumeClaim>& claims,
                         std::string schedulerName, const std::function<void()>& changed)
    : claims_(claims), schedulerName_(std::move(schedulerName)) {
  cache.pods.onChange([this](const auto& before, const auto& after) {
    if (after && mayBeAssumed(*after)) {
      pods_.try_emplace(after->key);
    } else {
      pods_.erase((after ? after : before)->key);
    }
  });
  claims.onChange([this, changed](const auto&, const auto&) {
    if (!pods_.empty()) changed();
  });
}

// Returns false for members: their gang's record already counts them.
bool AssumedPods::mayBeAssumed(const model::Pod& pod) const {
  const bool ours = pod.schedulerName.empty() || pod.schedulerName == schedulerName_;
  const bool open = !pod.bound() && !pod.finished() && !pod.terminating && !pod.gated;
  const bool awaitsVolume =
      !pod.shape.volumeClaims.empty() && pod.shape.deviceClaims.empty() && pod.unschedulableMessage.empty();
  const bool waits = !pod.nominated.empty() || awaitsVolume;
  return ours && open && waits && !model::claimsGang(pod);
}

// Empty if kube-scheduler has not chosen a node.
model::NodeName AssumedPods::nodeOf(const model::Pod& pod) const {
  if (!pod.nominated.empty()) return pod.nominated;
  for (const std::string& name : pod.shape.volumeClaims) {
    const auto claim = claims_.find({pod.key.ns, name});
    if (claim && !claim->bound && !claim->selectedNode.empty()) return claim->selectedNode;
  }
  return {};
}

void AssumedPods::overlay(model::Snapshot& snapshot) {
  for (auto& [key, assumed] : pods_) {
    const std::size_t at = snapshot.pods.positionOf(key);
    if (at == snapshot.pods.size() || snapshot.pods[at]->bound()) continue;
    const auto& pod = snapshot.pods[at];
    const model::NodeName node = nodeOf(*pod);
    if (node.empty()) continue;
    if (assumed.from != pod || assumed.to->node != node) {
      auto copy = std::make_shared<model::Pod>(*pod);
      copy->node = node;
      assumed = {pod, std::move(copy)};
    }
    snapshot.pods.edit()[at] = assumed.to;
  }
}

}  // namespace trainyard::operator_
