#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "model/snapshot.h"

namespace trainyard::core {

// The cost of preempting a running job now: the same for victims, for moves and for the orderings.
//
// Assumes: a job that writes a checkpoint on demand loses only its restart. A job with periodic checkpoints
// counts the period from its start, and loses the work since the last one, or since a later one that it
// reports. A job without declared checkpoints restarts from nothing: it loses all work since its start, and
// its restart takes kRestart. (Rejected: the cost of checkpoints written on demand. No job reports it, and it
// is seconds.)
inline constexpr std::chrono::seconds kRestart{60};

// Returns true if the job declares checkpoints from which it resumes: only then may an ordering preempt
// it.
[[nodiscard]] bool isCheckpointable(const model::JobSpec& spec);

// The work that is lost if a job is preempted this long after its placement, before any cap.
[[nodiscard]] std::chrono::microseconds lostAfter(const std::optional<model::Checkpoint>& checkpoint,
                                                  std::chrono::microseconds placedFor);

// The work time that is lost if the job, placed at `placedSince` (see placedSince()), is preempted now: at
// most the policy's maxLostWork.
[[nodiscard]] std::chrono::microseconds lostTime(const model::Job& job, base::WallTime placedSince,
                                                 const model::Snapshot& snapshot);

// The lost work in GPU seconds.
[[nodiscard]] std::int64_t lostWork(const model::Job& job, const model::Snapshot& snapshot);
[[nodiscard]] std::int64_t lostWork(const model::Job& job, base::WallTime placedSince,
                                    const model::Snapshot& snapshot);

// Lost work plus the restart, as time during which all GPUs of the job do no new work.
[[nodiscard]] std::chrono::microseconds preemptionCost(const model::Job& job,
                                                       const model::Snapshot& snapshot);
// preemptionCost() in GPU seconds.
[[nodiscard]] std::int64_t preemptionCostInGpuSeconds(const model::Job& job, const model::Snapshot& snapshot);

}  // namespace trainyard::core
