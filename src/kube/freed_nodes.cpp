#include "kube/freed_nodes.h"

#include <memory>

#include "model/member_of.h"

namespace trainyard::kube {
namespace {

using PodPtr = std::shared_ptr<const model::Pod>;

bool holds(const PodPtr& pod) {
  return pod && pod->bound() && !pod->finished() && pod->member && model::claimsGang(*pod);
}

}  // namespace

FreedNodes::FreedNodes(ClusterCache& cache) {
  cache.pods.onChange([this](const PodPtr& before, const PodPtr& after) {
    const bool stays = after && before && after->uid == before->uid && holds(after);
    if (holds(before) && !stays) seen_.emplace_back(before->node, model::gangUidOf(*before));
  });
}

const std::vector<model::FreedNode>& FreedNodes::until(base::WallTime now) {
  for (auto& [node, job] : seen_) freed_.push_back({std::move(node), std::move(job), now});
  seen_.clear();
  std::erase_if(freed_, [&](const model::FreedNode& each) { return each.at + kKept < now; });
  return freed_;
}

}  // namespace trainyard::kube
