#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/order/run_time_model.h"
#include "model/job.h"

namespace trainyard::core {

// The job's own facts that decide its position in the queue while it is pending. The clock and other jobs
// also count. The facts stay valid until the job changes.
struct QueuePositionFacts {
  base::WallTime submitted{};
  std::int64_t gpus = 0;
  std::chrono::seconds ran{0};
  std::optional<std::chrono::seconds> remaining = std::nullopt;  // by the owner's estimate; 0: exceeded
  RunTimeModel::Question question = {};
};

// `job` must not be placed.
[[nodiscard]] QueuePositionFacts queuePositionFactsOf(const model::Job& job, base::WallTime now,
                                                      RunTimeModel& runs);

}  // namespace trainyard::core
