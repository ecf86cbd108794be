#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/order/run_time_model.h"
#include "model/job.h"

namespace trainyard::core {

// The job's own facts that decide its position in the queue. Other jobs also count. The facts of a pending
// job stay valid until it changes; those of a placed one change with the clock.
struct QueuePositionFacts {
  base::WallTime submitted{};
  std::int64_t gpus = 0;
  std::chrono::seconds ran{0};
  std::optional<std::chrono::seconds> remaining = std::nullopt;  // by the owner's estimate; 0: exceeded
  RunTimeModel::Question question = {};
};

[[nodiscard]] QueuePositionFacts queuePositionFactsOf(const model::Job& job, base::WallTime now,
                                                      RunTimeModel& runs);

}  // namespace trainyard::core
