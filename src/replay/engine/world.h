#pragma once

#include <chrono>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "model/snapshot.h"
#include "replay/engine/engine.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// The first submission in calendar time: times that were never written are in the year 1970.
inline constexpr std::chrono::hours kOrigin{24 * 365 * 40};
[[nodiscard]] inline base::WallTime calendar(ReplayTime time) { return base::WallTime(kOrigin + time); }

// The queue of all jobs if there is only one.
inline constexpr const char* kOnlyQueue = "all";
[[nodiscard]] inline bool hasOneQueue(const Trace& trace, const ReplaySetup& setup) {
  return setup.oneQueue || trace.queues.size() < 2;
}

// Returns the nodes, the policy and the queues of a replay, without jobs.
[[nodiscard]] model::Snapshot worldOf(const Trace& trace, const std::vector<ReplayNode>& cluster,
                                      const ReplaySetup& setup);

// kInvalid if a job does not fit on the empty cluster, an elastic one with its minimum.
[[nodiscard]] base::Result<void> checkFit(const Trace& trace, const std::vector<ReplayNode>& cluster,
                                          const ReplaySetup& setup);

}  // namespace trainyard::replay
