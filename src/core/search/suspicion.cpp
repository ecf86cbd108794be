#include "core/search/suspicion.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "model/conditions.h"

namespace trainyard::core {
namespace {

// Whether a gang with node checks has started to run on the node since. Called for few nodes only.
bool passedCheck(const model::NodeName& node, base::WallTime since,
                 const model::SharedList<model::Job>& jobs) {
  return std::any_of(jobs.begin(), jobs.end(), [&](const auto& job) {
    if (!job->spec.health.preflight || !job->status.gang.placed) return false;
    const model::Condition* runs = job->condition(model::conditions::kRunning);
    const bool began =
        runs != nullptr && runs->status == model::ConditionStatus::kTrue && runs->lastTransition > since;
    const auto& assignments = job->status.gang.placed->assignments;
    return began && std::any_of(assignments.begin(), assignments.end(),
                                [&](const auto& each) { return each.node == node; });
  });
}

}  // namespace

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
    case kUnknown:
    case kUserCodeError:
    case kSyntaxError:
    case kImportError:
    case kArgumentError:
    case kInputError:
    case kPermissionDenied:
    case kCheckpointError:
    case kModelDiverged:
    case kGpuOutOfMemory:
    case kHostOutOfMemory:
    case kSharedMemory:
    case kSegmentationFault:
    case kAborted:
    case kLibraryMissing:
    case kCudaVersionMismatch:
    case kCommandNotFound:
    case kNcclError:
    case kCollectiveTimeout:
    case kRendezvousTimeout:
    case kConnectionLost:
    case kDnsFailure:
    case kMpiError:
    case kStorageUnavailable:
    case kImagePull:
    case kContainerConfig:
    case kEvicted:
    case kNodeLost:
    case kPreempted:
    case kAdmissionRefused:
    case kDeadlineExceeded:
    case kInterrupted:
    case kStalled: break;
  }
  return false;
}

std::vector<model::NodeName> suspectedNodes(const std::vector<std::shared_ptr<const model::Job>>& accusing,
                                            const model::SharedList<model::Job>& all,
                                            const model::Policy& policy, base::WallTime now) {
  const model::FailureHandling& failures = policy.failures;
  if (failures.suspectAfter == 0 || accusing.empty()) return {};
  struct Accusation {
    base::WallTime last{};
    int jobs = 0;
    std::set<std::string_view> namespaces;
  };
  std::map<model::NodeName, Accusation> accusations;
  for (const auto& job : accusing) {
    const model::LastFailure& last = *job->status.lastFailure;
    if (now >= last.time + failures.suspectFor) continue;
    Accusation& each = accusations[last.node];
    ++each.jobs;
    each.last = std::max(each.last, last.time);
    each.namespaces.insert(job->key.ns);
  }
  // The jobs are sorted by namespace.
  const bool oneTenant = all.empty() || all.front()->key.ns == all.back()->key.ns;
  const std::size_t voices = oneTenant || failures.suspectAfter == 1 ? 1 : 2;
  const bool checks = !policy.preflight.image.empty();
  std::vector<std::pair<int, model::NodeName>> suspects;
  for (const auto& [node, by] : accusations) {
    const bool accused = by.jobs >= failures.suspectAfter && by.namespaces.size() >= voices;
    if (accused && !(checks && passedCheck(node, by.last, all))) suspects.emplace_back(by.jobs, node);
  }
  std::sort(suspects.begin(), suspects.end());
  std::vector<model::NodeName> names;
  for (auto& [count, node] : suspects) names.push_back(std::move(node));
  return names;
}

}  // namespace trainyard::core
