#include "core/order.h"

#include <algorithm>
#include <utility>

namespace trainyard::core {

int priorityOf(const model::Job& job, const model::Snapshot& snapshot) {
  for (const auto& known : snapshot.priorityClasses) {
    const bool applies =
        job.spec.priorityClassName.empty() ? known->globalDefault : known->name == job.spec.priorityClassName;
    if (applies) return known->value;
  }
  return 0;
}

void orderWaiting(std::vector<std::shared_ptr<const model::Job>>& jobs, const model::Snapshot& snapshot) {
  std::vector<std::pair<int, std::shared_ptr<const model::Job>>> ranked;
  ranked.reserve(jobs.size());
  for (auto& job : jobs) ranked.emplace_back(priorityOf(*job, snapshot), std::move(job));
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first > b.first;
    if (a.second->created != b.second->created) return a.second->created < b.second->created;
    return a.second->key < b.second->key;
  });
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i] = std::move(ranked[i].second);
}

}  // namespace trainyard::core
