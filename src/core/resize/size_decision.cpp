#include "core/resize/size_decision.h"

#include <algorithm>
#include <utility>

namespace trainyard::core {

void recordSize(const model::Job& job, SizeDecision update, const model::Snapshot& snapshot,
                model::ResizeStatus& status) {
  status.desired = update.members;
  status.decidedBy = update.by;
  status.message = std::move(update.why);
  status.cooldownUntil = snapshot.now + cooldownOf(job, snapshot.policy);
}

base::WallTime::duration cooldownOf(const model::Job& job, const model::Policy& policy) {
  const base::WallTime::duration interval = policy.resize.interval;
  return job.spec.elastic ? std::max<base::WallTime::duration>(job.spec.elastic->cooldown, interval)
                          : interval;
}

}  // namespace trainyard::core
