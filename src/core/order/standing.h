#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/order/run_time_model.h"
#include "model/job.h"

namespace trainyard::core {

// All that decides where a job that waits stands in its queue, but the clock and what others do: the same
// until the job changes.
struct Standing {
  base::WallTime submitted{};
  std::int64_t gpus = 0;
  std::chrono::seconds ran{0};
  std::optional<std::chrono::seconds> remaining = std::nullopt;  // by its owner's estimate; 0: outrun
  RunTimeModel::Question question = {};
};

// `job` has no places.
[[nodiscard]] Standing standingOf(const model::Job& job, base::WallTime now, RunTimeModel& runs);

}  // namespace trainyard::core
