#include "operator/metrics/pending_since.h"

#include <algorithm>
#include <chrono>

#include "model/conditions.h"

namespace trainyard::operator_ {

base::WallTime pendingSince(const model::Job& job) {
  const auto queued =
      std::find_if(job.status.conditions.begin(), job.status.conditions.end(), [](const auto& each) {
        return each.type == model::conditions::kQueued && each.status == model::ConditionStatus::kTrue;
      });
  const bool again = job.status.service.updatedAt != base::WallTime{};
  return again && queued != job.status.conditions.end() ? queued->lastTransition : job.created;
}

double sinceEpoch(base::WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace trainyard::operator_
