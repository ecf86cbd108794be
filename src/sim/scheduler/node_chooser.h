#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "kube/object_cache.h"
#include "model/node.h"
#include "model/pod.h"
#include "sim/scheduler/extender.h"
#include "sim/scheduler/node_usage.h"

namespace trainyard::sim {

// The nodes that a pod fits, and the number of refused nodes by reason.
struct NodeSearch {
  std::vector<std::string> left;
  std::map<std::string, int> refusals;
  std::size_t total = 0;
  bool byExtender = false;  // the extender refused a node
};

// Filters and scores the nodes for one pod, as kube-scheduler's plug-ins do.
class NodeChooser {
 public:
  // `extender` is null if none is configured; it is asked about pods with GPUs only.
  NodeChooser(const kube::ObjectCache<model::Node>& nodes, const NodeUsage& usage,
              SchedulerExtender* extender)
      : nodes_(nodes), usage_(usage), extender_(extender) {}

  // Fails if the extender does.
  [[nodiscard]] base::Result<NodeSearch> search(const model::Pod& pod) const;
  // Returns the best node of a search that left some: by score, then by name.
  [[nodiscard]] model::NodeName best(const model::Pod& pod, const NodeSearch& search) const;

 private:
  [[nodiscard]] NodeSearch filter(const model::Pod& pod) const;
  [[nodiscard]] bool asksExtender(const model::Pod& pod) const {
    return extender_ != nullptr && pod.shape.requests.gpus() > 0;
  }

  const kube::ObjectCache<model::Node>& nodes_;
  const NodeUsage& usage_;
  SchedulerExtender* extender_;
};

}  // namespace trainyard::sim
