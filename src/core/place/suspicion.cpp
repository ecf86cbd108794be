#include "core/place/suspicion.h"

#include <algorithm>
#include <map>
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
    case kDiskFull: return true;
    default: return false;
  }
}

std::vector<model::NodeName> suspectedNodes(const std::vector<std::shared_ptr<const model::Job>>& accusing,
                                            const model::FailureHandling& policy, base::WallTime now) {
  if (policy.suspectAfter == 0) return {};
  std::map<model::NodeName, int> failures;
  for (const auto& job : accusing) {
    const model::LastFailure& last = *job->status.lastFailure;
    if (now < last.time + policy.suspectFor) ++failures[last.node];
  }
  std::vector<std::pair<int, model::NodeName>> suspects;
  for (auto& [node, count] : failures) {
    if (count >= policy.suspectAfter) suspects.emplace_back(count, node);
  }
  std::sort(suspects.begin(), suspects.end());
  std::vector<model::NodeName> names;
  for (auto& [count, node] : suspects) names.push_back(std::move(node));
  return names;
}

}  // namespace trainyard::core
