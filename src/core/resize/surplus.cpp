#include "core/resize/surplus.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/order/preemption_cost.h"
#include "core/resize/resize_method.h"
#include "model/gang_size.h"
#include "model/late_members.h"
#include "model/managed_by.h"

namespace trainyard::core {
namespace {

using model::Assignment;

constexpr std::chrono::seconds kHelperPause{1};
constexpr std::chrono::seconds kLauncherPause{3};
constexpr std::chrono::seconds kRendezvousPause{15};

// Assignments of the elastic role with indices from `from` on (last), or those before it and all other roles.
std::vector<Assignment> split(const model::Job& job, int from, bool last) {
  std::vector<Assignment> found;
  if (!job.status.gang.placed) return found;
  for (const Assignment& each : job.status.gang.placed->assignments) {
    const bool elastic = each.role == job.spec.elastic->role;
    if (!elastic && last) continue;
    std::vector<int> indices;
    for (const int index : each.indices.values()) {
      if (!elastic || (index >= from) == last) indices.push_back(index);
    }
    if (indices.empty()) continue;
    found.push_back(each);
    found.back().indices = model::IndexSet(std::move(indices));
  }
  return found;
}

}  // namespace

bool resizable(const model::Job& job) {
  const model::GangRecord& gang = job.status.gang;
  return job.spec.elastic && gang.placed && !gang.proposal && !job.recordUnwritten && !job.deleting &&
         !job.finished() && !job.spec.run.suspend && !model::managedByOther(job) && job.specError.empty() &&
         job.spec.findRole(job.spec.elastic->role) != nullptr;
}

int elasticMembers(const model::Job& job) {
  const model::Role* role = job.spec.findRole(job.spec.elastic->role);
  return role == nullptr ? 0 : model::gangMembers(job, *role);
}

int desiredMembers(const model::Job& job) {
  const model::Elastic& elastic = *job.spec.elastic;
  return std::max(std::min(elastic.replicas, elastic.maxReplicas), elastic.minReplicas);
}

bool givesMembers(const model::Job& job) { return resizable(job) && !model::mayStartIncomplete(job.spec); }

std::vector<Assignment> lastMembers(const model::Job& job, int count) {
  return split(job, elasticMembers(job) - count, true);
}

std::vector<Assignment> withoutLast(const model::Job& job, int count) {
  return split(job, elasticMembers(job) - count, false);
}

bool mayStartSmaller(const model::Job& job, const model::Policy& policy) {
  return job.spec.elastic && (policy.resize.enabled || model::mayStartIncomplete(job.spec)) &&
         job.spec.elastic->minReplicas < desiredMembers(job);
}

std::shared_ptr<model::Job> withDesiredSize(const model::Job& job, int members) {
  auto other = std::make_shared<model::Job>(job);
  other->spec.elastic->replicas = members;
  other->status.gpus = model::gangGpus(other->spec, other->status.gang);
  return other;
}

std::shared_ptr<model::Job> minimumOf(const model::Job& job, const model::Policy& policy) {
  return mayStartSmaller(job, policy) ? withDesiredSize(job, job.spec.elastic->minReplicas) : nullptr;
}

std::chrono::microseconds resizePause(const model::Job& job, const model::Snapshot& snapshot) {
  if (resizeMethod(job.spec) == ResizeMethod::kByRestart) return preemptionCost(job, snapshot);
  if (model::mayStartIncomplete(job.spec)) return std::chrono::microseconds(0);
  const std::vector<std::int64_t>& past = job.status.resize.lastPauseMillis;
  if (!past.empty()) {
    const std::int64_t sum = std::accumulate(past.begin(), past.end(), std::int64_t{0});
    return std::chrono::milliseconds(sum / static_cast<std::int64_t>(past.size()));
  }
  const bool declared = job.spec.checkpoint.has_value();
  if (declared && job.spec.checkpoint->mode == model::CheckpointMode::kHelper) return kHelperPause;
  if (declared && job.spec.checkpoint->mode == model::CheckpointMode::kLauncher) return kLauncherPause;
  // Parameter servers serve each worker alone: no other one waits for it.
  const bool alone = model::traitsOf(job.spec.framework).discovery == model::Discovery::kWorkersOfServers;
  return alone ? kHelperPause : kRendezvousPause;
}

}  // namespace trainyard::core
