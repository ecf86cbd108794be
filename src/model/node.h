#pragma once

#include <vector>

#include "model/constraints.h"
#include "model/ids.h"
#include "model/resources.h"

namespace trainyard::model {

struct Node {
  NodeName name;
  Uid uid;
  Labels labels;
  std::vector<Taint> taints;
  bool unschedulable = false;  // cordoned
  bool ready = false;          // condition Ready=True
  bool deleting = false;
  Resources allocatable;
};

}  // namespace trainyard::model
