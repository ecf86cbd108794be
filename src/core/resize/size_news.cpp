#include "core/resize/size_news.h"

#include <algorithm>
#include <utility>

namespace trainyard::core {

void tellSize(const model::Job& job, SizeNews news, const model::Snapshot& snapshot,
              model::ResizeStatus& status) {
  status.desired = news.members;
  status.decidedBy = news.by;
  status.message = std::move(news.why);
  status.cooldownUntil = snapshot.now + cooldownOf(job, snapshot.policy);
}

base::WallTime::duration cooldownOf(const model::Job& job, const model::Policy& policy) {
  const base::WallTime::duration interval = policy.resize.interval;
  return job.spec.elastic ? std::max<base::WallTime::duration>(job.spec.elastic->cooldown, interval)
                          : interval;
}

}  // namespace trainyard::core
