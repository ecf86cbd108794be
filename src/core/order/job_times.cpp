#include "core/order/job_times.h"

#include <algorithm>
#include <string_view>

#include "model/conditions.h"

namespace trainyard::core {
namespace {

using model::Job;
using std::chrono::seconds;

base::WallTime sinceCondition(const Job& job, std::string_view type, base::WallTime otherwise) {
  const model::Condition* condition = job.condition(type);
  const bool holds = condition != nullptr && condition->status == model::ConditionStatus::kTrue;
  return holds ? condition->lastTransition : otherwise;
}

}  // namespace

base::WallTime placedSince(const Job& job, base::WallTime now) {
  return sinceCondition(job, model::conditions::kScheduled, now);
}

base::WallTime waitingSince(const Job& job, base::WallTime now) {
  return sinceCondition(job, model::conditions::kQueued, now);
}

base::WallTime startedSince(const Job& job, base::WallTime now) {
  const model::Condition* queued = job.condition(model::conditions::kQueued);
  const bool left = queued != nullptr && queued->status == model::ConditionStatus::kFalse;
  return left ? queued->lastTransition : placedSince(job, now);
}

seconds ranSoFar(const Job& job, base::WallTime now) {
  const model::JobStatus& status = job.status;
  const seconds before(status.service.runSeconds);
  const bool runs = status.gang.placed.has_value() && !job.finished();
  if (!runs || status.service.updatedAt == base::WallTime{}) return before;
  const auto since = std::chrono::floor<seconds>(now - status.service.updatedAt);
  return before + std::max(since, seconds(0));
}

seconds progressOf(const Job& job, base::WallTime now) {
  if (job.spec.checkpoint || job.status.preemptions.count == 0) return ranSoFar(job, now);
  if (!job.status.gang.placed) return seconds(0);
  return std::max(std::chrono::floor<seconds>(now - placedSince(job, now)), seconds(0));
}

std::optional<seconds> estimatedRemaining(const Job& job, base::WallTime now) {
  if (!job.spec.estimatedDuration) return std::nullopt;
  return std::max(*job.spec.estimatedDuration - progressOf(job, now), seconds(0));
}

}  // namespace trainyard::core
