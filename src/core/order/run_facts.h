#pragma once

#include <chrono>
#include <optional>

#include "base/time.h"
#include "core/order/job_times.h"
#include "model/job.h"

namespace trainyard::core {

// All that decides for how long a gang with places is expected to hold them, and what it costs to stop it,
// but the clock, the policy and what others do: the same until the job changes.
struct RunFacts {
  bool placed = false;   // else its places are on their way
  bool leaving = false;  // it is deleted, stopped or given up, or has ended
  // Its estimate is of what is left, and not of the time since its places: it was stopped, and went on.
  bool fresh = false;
  std::optional<base::WallTime> placedSince = std::nullopt;   // placedSince(); absent: now
  std::optional<base::WallTime> startedSince = std::nullopt;  // startedSince(); absent: now
  std::optional<std::chrono::seconds> estimate = std::nullopt;
  RunClock progress = {};
};

[[nodiscard]] RunFacts runFactsOf(const model::Job& job);

}  // namespace trainyard::core
