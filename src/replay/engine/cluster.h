#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "model/snapshot.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// How the GPUs of a job are divided into members: equal members, as large as a node allows, on as few nodes
// as possible; or one GPU per member, on any node.
struct GangShape {
  int members = 0;
  int gpusEach = 0;
  friend auto operator<=>(const GangShape&, const GangShape&) = default;
};
[[nodiscard]] GangShape tightShape(int gpus, int gpusOfLargestNode);

[[nodiscard]] std::int64_t gpusOf(const std::vector<ReplayNode>& nodes);
[[nodiscard]] int gpusOfLargest(const std::vector<ReplayNode>& nodes);

// Returns the nodes as a snapshot without other objects.
[[nodiscard]] model::Snapshot replaySnapshot(const std::vector<ReplayNode>& nodes);

// kInvalid, with the first job that does not fit on the empty cluster in the shape of tightShape().
[[nodiscard]] base::Result<void> checkAllFit(const Trace& trace, const std::vector<ReplayNode>& nodes);

}  // namespace trainyard::replay
