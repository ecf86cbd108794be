#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "model/snapshot.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// How a job of so many GPUs is cut into members: as large as a node allows, all alike, on as few nodes as
// possible; or one GPU each, which may go anywhere.
struct GangShape {
  int members = 0;
  int gpusEach = 0;
  friend auto operator<=>(const GangShape&, const GangShape&) = default;
};
[[nodiscard]] GangShape tightShape(int gpus, int gpusOfLargestNode);

[[nodiscard]] std::int64_t gpusOf(const std::vector<ReplayNode>& nodes);
[[nodiscard]] int gpusOfLargest(const std::vector<ReplayNode>& nodes);

// The nodes as a snapshot, without anything else.
[[nodiscard]] model::Snapshot replaySnapshot(const std::vector<ReplayNode>& nodes);

// kInvalid, naming the first job that does not fit on the empty cluster, cut as tightShape() does.
[[nodiscard]] base::Result<void> checkAllFit(const Trace& trace, const std::vector<ReplayNode>& nodes);

}  // namespace trainyard::replay
