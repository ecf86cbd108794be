#pragma once

#include <utility>
#include <vector>

#include "base/time.h"
#include "kube/cluster_cache.h"
#include "model/snapshot.h"

namespace trainyard::kube {

// Sees members of gangs end or go, as the watch tells it: when that was by the clock of this program. (Lost:
// the times that containers tell. They are whole seconds of the node's clock, are missing where a pod ends
// without container statuses, and go with a pod that is deleted.)
class FreedNodes {
 public:
  // `cache` outlives this.
  explicit FreedNodes(ClusterCache& cache);
  FreedNodes(const FreedNodes&) = delete;
  FreedNodes& operator=(const FreedNodes&) = delete;

  // All of the last kKept; what was seen since the last call counts as of now.
  [[nodiscard]] const std::vector<model::FreedNode>& until(base::WallTime now);

  static constexpr std::chrono::minutes kKept{2};

 private:
  std::vector<model::FreedNode> freed_;
  std::vector<std::pair<model::NodeName, model::Uid>> seen_;
};

}  // namespace trainyard::kube
