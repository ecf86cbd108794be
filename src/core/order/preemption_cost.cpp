#include "core/order/preemption_cost.h"

#include <algorithm>

#include "base/saturating.h"
#include "core/order/job_times.h"

namespace trainyard::core {
namespace {

using std::chrono::microseconds;

std::int64_t gpuSeconds(microseconds time, const model::Job& job) {
  return base::saturatingMultiply(std::chrono::duration_cast<std::chrono::seconds>(time).count(),
                                  std::max<std::int64_t>(job.status.gpus, 1));
}

}  // namespace

bool isCheckpointable(const model::JobSpec& spec) { return spec.checkpoint && spec.checkpoint->keepsWork(); }

microseconds lostAfter(const std::optional<model::Checkpoint>& checkpoint, microseconds placedFor) {
  if (!checkpoint) return placedFor;
  if (checkpoint->mode != model::CheckpointMode::kNone) return microseconds(0);
  const bool periodic = checkpoint->every && checkpoint->every->count() > 0;
  return periodic ? placedFor % microseconds(*checkpoint->every) : placedFor;
}

microseconds lostTime(const model::Job& job, base::WallTime placedSince, const model::Snapshot& snapshot) {
  const auto placedFor = std::max(snapshot.now - placedSince, microseconds(0));
  auto lost = lostAfter(job.spec.checkpoint, placedFor);
  // A reported checkpoint can only lower the cost: no job may protect itself by its own report.
  const auto& progress = job.status.progress;
  if (progress && progress->lastCheckpoint && isCheckpointable(job.spec)) {
    const auto age = std::max<microseconds>(snapshot.now - *progress->lastCheckpoint, microseconds(0));
    lost = std::min(lost, age);
  }
  return std::min<microseconds>(lost, snapshot.policy.preemption.maxLostWork);
}

std::int64_t lostWork(const model::Job& job, const model::Snapshot& snapshot) {
  return lostWork(job, placedSince(job, snapshot.now), snapshot);
}

std::int64_t lostWork(const model::Job& job, base::WallTime placedSince, const model::Snapshot& snapshot) {
  return gpuSeconds(lostTime(job, placedSince, snapshot), job);
}

microseconds preemptionCost(const model::Job& job, const model::Snapshot& snapshot) {
  const auto restart = job.spec.checkpoint ? job.spec.checkpoint->restart : kRestart;
  return lostTime(job, placedSince(job, snapshot.now), snapshot) + restart;
}

std::int64_t preemptionCostInGpuSeconds(const model::Job& job, const model::Snapshot& snapshot) {
  return gpuSeconds(preemptionCost(job, snapshot), job);
}

}  // namespace trainyard::core
