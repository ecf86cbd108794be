#include "core/preemption/candidate.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace trainyard::core {

void sortByCost(std::vector<Candidate>& candidates) {
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.priority, a.cost, a.job->key) < std::tie(b.priority, b.cost, b.job->key);
  });
}

std::chrono::seconds graceOf(const model::Job& job, const model::Policy& policy) {
  std::chrono::seconds longest{0};
  for (const model::Role& role : job.spec.roles) longest = std::max(longest, role.grace);
  return std::min(longest, policy.preemption.maxGrace);
}

LaterCandidate afterShrink(std::shared_ptr<const model::Job> job, int priority,
                           const model::Snapshot& snapshot) {
  const base::WallTime from = snapshot.now + graceOf(*job, snapshot.policy);
  return {std::move(job), priority, from};
}

}  // namespace trainyard::core
