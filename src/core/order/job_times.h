#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/time.h"
#include "model/job.h"

namespace trainyard::core {

// Since when the job has its placement, and since when it is pending; `now` if its status has no such time.
[[nodiscard]] base::WallTime placedSince(const model::Job& job, base::WallTime now);
[[nodiscard]] base::WallTime waitingSince(const model::Job& job, base::WallTime now);

// Since when the job is no longer pending, a placement that is under way included; placedSince() if no
// condition shows an earlier time.
[[nodiscard]] base::WallTime startedSince(const model::Job& job, base::WallTime now);

// Seconds of running that grow with the clock: the seconds that a status counted, plus the time since then
// for a running job.
struct RunClock {
  std::chrono::seconds counted{0};
  std::optional<base::WallTime> since = std::nullopt;

  [[nodiscard]] std::chrono::seconds at(base::WallTime now) const {
    if (!since) return counted;
    return counted +
           std::max(std::chrono::floor<std::chrono::seconds>(now - *since), std::chrono::seconds(0));
  }
};
// The clocks behind ranSoFar() and progressOf(). They stay valid until the job changes.
[[nodiscard]] RunClock runClockOf(const model::Job& job);
[[nodiscard]] RunClock progressClockOf(const model::Job& job);

// The total running time of the job as of `now`, lost work included.
[[nodiscard]] std::chrono::seconds ranSoFar(const model::Job& job, base::WallTime now);

// The completed work of the job, as running time. It equals the total running time, except for a preempted
// job without checkpoints: that job restarted from nothing with its last start.
[[nodiscard]] std::chrono::seconds progressOf(const model::Job& job, base::WallTime now);

// The remainder of the owner's estimate, which covers the whole job. It is 0 once the job exceeds the
// estimate; nullopt without an estimate.
[[nodiscard]] std::optional<std::chrono::seconds> estimatedRemaining(const model::Job& job,
                                                                     base::WallTime now);

}  // namespace trainyard::core
