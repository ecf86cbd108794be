#pragma once

#include <map>
#include <memory>

#include "model/ids.h"
#include "model/node.h"
#include "model/resources.h"
#include "sim/scheduler/pod.h"

namespace trainyard::sim {

// The resources of each node that pods use, including pods that were placed and are not seen bound yet.
class NodeUsage {
 public:
  using PodPtr = std::shared_ptr<const SchedulerPod>;

  // A pod was added (no `before`), changed, or removed (no `after`).
  void podChanged(const PodPtr& before, const PodPtr& after);
  // Counts the pod on the node until it is seen bound, or forgotten.
  void assume(const model::Pod& pod, const model::NodeName& node);
  void forget(const model::Uid& pod);

  [[nodiscard]] bool isAssumed(const model::Uid& pod) const { return assumed_.contains(pod); }
  [[nodiscard]] model::Resources freeOn(const model::Node& node) const;

 private:
  struct Assumed {
    model::NodeName node;
    model::Resources requests;
  };

  std::map<model::Uid, Assumed> assumed_;
  std::map<model::NodeName, model::Resources> used_;
};

}  // namespace trainyard::sim
