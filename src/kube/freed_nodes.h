#pragma once

#include <utility>
#include <vector>

#include "base/time.h"
#include "kube/cluster_cache.h"
#include "model/snapshot.h"

namespace trainyard::kube {

// Records when members of gangs end or are deleted, as the watch delivers it, by this program's clock.
// (Rejected: the times in container statuses. They are whole seconds of the node's clock, are missing if a
// pod ends without container statuses, and vanish with a deleted pod.)
class FreedNodes {
 public:
  // `cache` outlives this.
  explicit FreedNodes(ClusterCache& cache);
  FreedNodes(const FreedNodes&) = delete;
  FreedNodes& operator=(const FreedNodes&) = delete;

  // Returns all records of the last kKept. Members seen since the last call are recorded with `now`.
  [[nodiscard]] const std::vector<model::FreedNode>& until(base::WallTime now);

  static constexpr std::chrono::minutes kKept{2};

 private:
  std::vector<model::FreedNode> freed_;
  std::vector<std::pair<model::NodeName, model::Uid>> seen_;
};

}  // namespace trainyard::kube
