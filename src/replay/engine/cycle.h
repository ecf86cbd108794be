#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "model/policy.h"
#include "replay/engine/result.h"
#include "replay/engine/slices.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// Runs the trace through core::schedule(), asked as the operator's cycle asks it: TrainingJobs in queues, on
// the nodes of a snapshot, at every arrival and end and when it wants to be asked again. Jobs up to a node's
// GPUs have a worker for each and prefer one node, larger ones have workers as large as nodes; all can be
// stopped. Every queue of the trace is guaranteed its part of the cluster (replay_meter.h), as its weight is.
//
// `relaxation` absent: a preferred node is a required one. kInvalid when a job does not even fit on the empty
// cluster.
[[nodiscard]] base::Result<ReplayResult> runCycles(const Trace& trace, const std::vector<ReplayNode>& cluster,
                                                   const std::optional<model::RelaxationPolicy>& relaxation,
                                                   const ReplayHooks& hooks);

}  // namespace trainyard::replay
