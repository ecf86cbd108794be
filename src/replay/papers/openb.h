#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/place/fragmentation.h"
#include "replay/engine/options.h"
#include "replay/engine/result.h"
#include "replay/papers/devices.h"

namespace trainyard::replay {

// Alibaba's cluster with shared GPUs (clusterdata, cluster-trace-gpu-v2023), as used in the FGD paper: which
// share of the GPUs a placement policy can hand out when more is asked for than there is.
struct OpenbTrace {
  std::vector<DeviceNode> nodes;  // in the order of their names
  // Distinct shapes of pods, and how many pods there are of each.
  std::vector<core::TaskShape> kinds;
  std::vector<std::int64_t> counts;
  std::vector<std::size_t> pods;  // the kind of each, in the order of the pods' names
};

// Nodes: sn, cpu_milli, memory_mib, gpu, model. Pods: name, cpu_milli, memory_mib, num_gpu, gpu_milli,
// gpu_spec (models that will do, joined by bars; empty, or no such column: any). Everything else is ignored.
// kInvalid with file, line and column for what cannot be, and when there is no GPU or no pod that wants one.
[[nodiscard]] base::Result<OpenbTrace> readOpenb(std::string nodesFile, std::string nodesText,
                                                 std::string podsFile, std::string podsText);

struct OpenbResult {
  std::size_t offered = 0;  // pods
  std::size_t placed = 0;
  std::int64_t capacity = 0;  // thousandths of GPUs, as below
  std::int64_t arrived = 0;
  std::int64_t allocated = 0;  // in the end
  // Allocated when the demand that had arrived was at most so many percent of the capacity: [0] … [130].
  std::vector<std::int64_t> allocatedAt;
  [[nodiscard]] double allocation() const {
    return static_cast<double>(allocated) / static_cast<double>(capacity);
  }
};

inline constexpr int kOpenbArrivalsPercent = 130;

// The paper's placement experiment: the pods shuffled by the seed, then pods drawn at random from the list
// until the GPUs asked for reach 130 % of the capacity (the draw that would pass it is not offered); one
// after another, none leaves, and what fits nowhere is dropped. Equal seeds offer equal pods to every
// placement.
[[nodiscard]] OpenbResult replayOpenb(const OpenbTrace& trace, ReplayPlacement placement, std::uint64_t seed);

// Reads both files and replays every placement over the same shuffles: options.seeds of them, from
// options.seed on. The result's gpuAllocation is that of options.placement; all stand in `allocations`.
[[nodiscard]] base::Result<ReplayResult> runOpenb(const ReplayOptions& options, const ReplayOutside& outside);

}  // namespace trainyard::replay
