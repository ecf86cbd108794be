#include "core/preemption/candidate.h"

#include <algorithm>
#include <tuple>

namespace trainyard::core {

void sortByCost(std::vector<Candidate>& candidates) {
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.priority, a.cost, a.job->key) < std::tie(b.priority, b.cost, b.job->key);
  });
}

}  // namespace trainyard::core
