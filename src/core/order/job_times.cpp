#include "core/order/job_times.h"

#include <algorithm>
#include <string_view>

#include "model/conditions.h"

namespace trainyard::core {
namespace {

using model::Job;
using std::chrono::seconds;

std::optional<base::WallTime> sinceCondition(const Job& job, std::string_view type) {
  const model::Condition* condition = job.condition(type);
  const bool holds = condition != nullptr && condition->status == model::ConditionStatus::kTrue;
  return holds ? std::optional(condition->lastTransition) : std::nullopt;
}

}  // namespace

base::WallTime placedSince(const Job& job, base::WallTime now) {
  return sinceCondition(job, model::conditions::kScheduled).value_or(now);
}

base::WallTime waitingSince(const Job& job, base::WallTime now) {
  return sinceCondition(job, model::conditions::kQueued).value_or(now);
}

base::WallTime startedSince(const Job& job, base::WallTime now) {
  const model::Condition* queued = job.condition(model::conditions::kQueued);
  const bool left = queued != nullptr && queued->status == model::ConditionStatus::kFalse;
  return left ? queued->lastTransition : placedSince(job, now);
}

RunClock runClockOf(const Job& job) {
  const model::JobStatus& status = job.status;
  RunClock clock{seconds(status.service.runSeconds)};
  const bool isCounted = status.service.updatedAt != base::WallTime{};
  if (isCounted && status.gang.placed && !job.finished()) clock.since = status.service.updatedAt;
  return clock;
}

RunClock progressClockOf(const Job& job) {
  if (job.spec.checkpoint || job.status.preemptions.count == 0) return runClockOf(job);
  if (!job.status.gang.placed) return {};
  return {seconds(0), sinceCondition(job, model::conditions::kScheduled)};
}

seconds ranSoFar(const Job& job, base::WallTime now) { return runClockOf(job).at(now); }

seconds progressOf(const Job& job, base::WallTime now) { return progressClockOf(job).at(now); }

std::optional<seconds> estimatedRemaining(const Job& job, base::WallTime now) {
  if (!job.spec.estimatedDuration) return std::nullopt;
  return std::max(*job.spec.estimatedDuration - progressOf(job, now), seconds(0));
}

}  // namespace trainyard::core
