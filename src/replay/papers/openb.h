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
// share of the GPUs a placement policy can assign if the requests exceed the capacity.
struct OpenbTrace {
  std::vector<DeviceNode> nodes;  // in the order of their names
  // The distinct shapes of pods, and the number of pods of each.
  std::vector<core::TaskShape> kinds;
  std::vector<std::int64_t> counts;
  std::vector<std::size_t> pods;  // the kind of each, in the order of the pods' names
};

// Nodes: sn, cpu_milli, memory_mib, gpu, model. Pods: name, cpu_milli, memory_mib, num_gpu, gpu_milli,
// gpu_spec (acceptable models, joined by bars; empty, or no such column: any). Other columns are ignored.
// kInvalid with file, line and column for an impossible value, and if there is no GPU or no request for one.
[[nodiscard]] base::Result<OpenbTrace> readOpenb(std::string nodesFile, std::string nodesText,
                                                 std::string podsFile, std::string podsText);

struct OpenbResult {
  std::size_t offered = 0;  // pods
  std::size_t placed = 0;
  std::int64_t capacity = 0;  // thousandths of GPUs, like the amounts below
  std::int64_t arrived = 0;
  std::int64_t allocated = 0;  // at the end
  // Allocated when the demand so far was at most this percentage of the capacity: [0] … [130].
  std::vector<std::int64_t> allocatedAt;
};

inline constexpr int kOpenbArrivalsPercent = 130;

// The paper's placement experiment. The pods are shuffled by the seed; then pods are drawn at random from the
// list until the requested GPUs reach 130 % of the capacity (the draw that would exceed it is not offered).
// They are placed one after another, none leaves, and a pod that fits nowhere is dropped. Equal seeds offer
// equal pods to every placement policy.
[[nodiscard]] OpenbResult replayOpenb(const OpenbTrace& trace, ReplayPlacement placement, std::uint64_t seed);

// Reads both files and replays every placement policy over the same shuffles: options.seeds of them, from
// options.seed on. The result's gpuAllocation is that of options.placement; all are in `allocations`.
[[nodiscard]] base::Result<ReplayResult> runOpenb(const ReplayOptions& options, const ReplayOutside& outside);

}  // namespace trainyard::replay
