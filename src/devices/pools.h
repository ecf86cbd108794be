#pragma once

#include <map>
#include <memory>
#include <vector>

#include "model/device.h"

namespace trainyard::devices {

// The slices whose devices kube-scheduler may allocate on each node: those of the newest generation of pools
// that are complete, and that belong to the node. Devices that several nodes can reach are left out: counting
// them on each would promise them several times.
using SlicesByNode = std::map<model::NodeName, std::vector<std::shared_ptr<const model::ResourceSlice>>>;
[[nodiscard]] SlicesByNode usableSlices(const model::SharedList<model::ResourceSlice>& slices);

}  // namespace trainyard::devices
