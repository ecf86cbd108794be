#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/time.h"
#include "model/job.h"

namespace trainyard::core {

// Since when the job has had its places, and since when it has waited; now, where its status does not tell.
[[nodiscard]] base::WallTime placedSince(const model::Job& job, base::WallTime now);
[[nodiscard]] base::WallTime waitingSince(const model::Job& job, base::WallTime now);

// Since when the job has not waited any more, places on their way included; as placedSince() where nothing
// tells.
[[nodiscard]] base::WallTime startedSince(const model::Job& job, base::WallTime now);

// Seconds of running that grow by themselves: what a status counted, and what has passed since, where it
// runs.
struct RunClock {
  std::chrono::seconds counted{0};
  std::optional<base::WallTime> since = std::nullopt;

  [[nodiscard]] std::chrono::seconds at(base::WallTime now) const {
    if (!since) return counted;
    return counted +
           std::max(std::chrono::floor<std::chrono::seconds>(now - *since), std::chrono::seconds(0));
  }
};
// Of ranSoFar() and of progressOf(): the same until the job changes.
[[nodiscard]] RunClock runClockOf(const model::Job& job);
[[nodiscard]] RunClock progressClockOf(const model::Job& job);

// What the job has run in all, as of `now`, whether it was lost or not.
[[nodiscard]] std::chrono::seconds ranSoFar(const model::Job& job, base::WallTime now);

// How much of its work the job has behind it, as time of running: all that it ran, but for one without
// checkpoints that was stopped, which began anew with its last start.
[[nodiscard]] std::chrono::seconds progressOf(const model::Job& job, base::WallTime now);

// What is left of the owner's estimate, which is of the whole job: 0 once it has run longer; nothing without
// one.
[[nodiscard]] std::optional<std::chrono::seconds> estimatedRemaining(const model::Job& job,
                                                                     base::WallTime now);

}  // namespace trainyard::core
