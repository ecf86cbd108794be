#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "model/snapshot.h"

namespace trainyard::core {

// What it costs to stop a running job now: for victims, for moves and for the order of service alike.
//
// Assumes: a job that writes a checkpoint on demand loses nothing but its restart; one that writes them by
// itself counts the time between two from its start, and loses what it did since the last, or since a later
// one that it reports; one that says nothing of checkpoints begins anew, and loses all since its start. Who
// begins anew needs kRestart at least. (Lost: what checkpoints cost that are written on demand. Nobody says,
// and it is seconds.)
inline constexpr std::chrono::seconds kRestart{60};

// Whether the job declares checkpoints from which it goes on: only then is it ever stopped for the sake of
// order.
[[nodiscard]] bool survivesStops(const model::JobSpec& spec);

// Work that is lost when a job is stopped that got its places so long ago; before any cap.
[[nodiscard]] std::chrono::microseconds lostAfter(const std::optional<model::Checkpoint>& checkpoint,
                                                  std::chrono::microseconds placedFor);

// Time of work that is lost when the job, which got its places then (placedSince()), is stopped now: at most
// the policy's maxLostWork.
[[nodiscard]] std::chrono::microseconds lostTime(const model::Job& job, base::WallTime placedSince,
                                                 const model::Snapshot& snapshot);

// The same in GPU seconds.
[[nodiscard]] std::int64_t lostWork(const model::Job& job, const model::Snapshot& snapshot);
[[nodiscard]] std::int64_t lostWork(const model::Job& job, base::WallTime placedSince,
                                    const model::Snapshot& snapshot);

// The same with the restart, in time during which its GPUs, however many, do nothing new.
[[nodiscard]] std::chrono::microseconds stopCost(const model::Job& job, const model::Snapshot& snapshot);
// In GPU seconds.
[[nodiscard]] std::int64_t stopCostInGpuSeconds(const model::Job& job, const model::Snapshot& snapshot);

}  // namespace trainyard::core
