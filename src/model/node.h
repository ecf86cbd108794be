#pragma once

#include <vector>

#include "base/time.h"
#include "model/constraints.h"
#include "model/ids.h"
#include "model/resources.h"

namespace trainyard::model {

struct Node {
  NodeName name;
  Uid uid;
  Labels labels;
  std::vector<Taint> taints;
  bool unschedulable = false;     // cordoned
  bool ready = false;             // condition Ready=True
  base::WallTime readyChanged{};  // time of its last change
  bool deleting = false;
  Resources allocatable;
  int uncountedResources = 0;  // number of ignored names: model/limits.h

  // Returns true if the node accepts new pods, apart from taints and from pods that tolerate a cordon.
  [[nodiscard]] bool takesPods() const { return ready && !unschedulable && !deleting; }
};

}  // namespace trainyard::model
