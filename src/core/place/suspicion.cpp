#include "core/place/suspicion.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace trainyard::core {

bool accusesNode(const model::Job& job) {
  using enum model::FailureClass;
  if (!job.status.lastFailure || job.status.lastFailure->node.empty()) return false;
  switch (job.status.lastFailure->failure) {
    case kGpuHardware:
    case kCudaInitFailed:
    case kCudaError:
    case kMpiRuntimeFailure:
    case kPreflightFailed:
    case kDiskFull: return true;
    default: return false;
  }
}

std::vector<model::NodeName> suspectedNodes(const std::vector<std::shared_ptr<const model::Job>>& accusing,
                                            const model::SharedList<model::Job>& all,
                                            const model::FailureHandling& policy, base::WallTime now) {
  if (policy.suspectAfter == 0 || accusing.empty()) return {};
  struct Accusation {
    int jobs = 0;
    std::set<std::string_view> namespaces;
  };
  std::map<model::NodeName, Accusation> accusations;
  for (const auto& job : accusing) {
    const model::LastFailure& last = *job->status.lastFailure;
    if (now >= last.time + policy.suspectFor) continue;
    Accusation& each = accusations[last.node];
    ++each.jobs;
    each.namespaces.insert(job->key.ns);
  }
  // Sorted by namespace.
  const bool oneTenant = all.empty() || all.front()->key.ns == all.back()->key.ns;
  const std::size_t voices = oneTenant || policy.suspectAfter == 1 ? 1 : 2;
  std::vector<std::pair<int, model::NodeName>> suspects;
  for (const auto& [node, by] : accusations) {
    if (by.jobs >= policy.suspectAfter && by.namespaces.size() >= voices)
      suspects.emplace_back(by.jobs, node);
  }
  std::sort(suspects.begin(), suspects.end());
  std::vector<model::NodeName> names;
  for (auto& [count, node] : suspects) names.push_back(std::move(node));
  return names;
}

}  // namespace trainyard::core
