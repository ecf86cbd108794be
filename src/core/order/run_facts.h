#pragma once

#include <chrono>
#include <optional>

#include "base/time.h"
#include "core/order/job_times.h"
#include "model/job.h"

namespace trainyard::core {

// The job's own facts that decide how long a placed gang holds its nodes, and the cost of preempting it. The
// clock, the policy and other jobs also count. The facts stay valid until the job changes.
struct RunFacts {
  bool placed = false;   // false: its placement is still under way
  bool leaving = false;  // it is deleted, suspended, preempted or abandoned, or has ended
  // Preempted and resumed from a checkpoint: the estimate covers what is left, not the time since placement.
  bool resumed = false;
  std::optional<base::WallTime> placedSince = std::nullopt;   // placedSince(); absent: now
  std::optional<base::WallTime> startedSince = std::nullopt;  // startedSince(); absent: now
  std::optional<std::chrono::seconds> estimate = std::nullopt;
  RunClock progress = {};
};

[[nodiscard]] RunFacts runFactsOf(const model::Job& job);

}  // namespace trainyard::core
