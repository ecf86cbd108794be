#include "core/gang/orphans.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "core/gang/gang_removal.h"
#include "model/job.h"
#include "model/managed_by.h"
#include "model/names.h"

namespace trainyard::core {

namespace {

// Lists members without a controller. Either a user removed the reference to the job, or a second owner made
// the garbage collector keep the pod and remove only the reference to the deleted job. They would run on, and
// no queue would be charged for them. Labels and name are the operator's, which never creates a pod without a
// controller. (Rejected: only members that a job's record names. A job can be deleted first.)
std::vector<DeletePod> disownedMembers(const model::Snapshot& snapshot) {
  std::vector<DeletePod> disowned;
  for (const auto& pod : snapshot.pods) {
    const bool isOfGang = !pod->gangUid.empty();
    if (!pod->member || isOfGang || !pod->controllerUid.empty() || pod->terminating || pod->finished())
      continue;
    const model::MemberLabels& member = *pod->member;
    if (pod->key.name != model::podName(member.jobName, member.role, member.index)) continue;
    const model::Job* job = snapshot.jobs.find(model::ObjectKey{pod->key.ns, member.jobName});
    if (job != nullptr && model::managedByOther(*job)) continue;
    disowned.push_back({pod->key, pod->uid});
  }
  return disowned;
}

}  // namespace

std::vector<DeletePod> sweepOrphans(const model::Snapshot& snapshot, const Settings& settings) {
  std::vector<const model::Pod*> suspects;
  for (const auto& pod : snapshot.pods) {
    const bool gated = pod->gangGated && !pod->terminating;
    if (!gated && !Removal::outlasts(*pod, settings, snapshot.now)) continue;
    if (pod->controllerKind == model::names::kTrainingJobKind) suspects.push_back(pod.get());
  }
  std::vector<DeletePod> orphans = disownedMembers(snapshot);
  if (suspects.empty()) return orphans;
  std::unordered_set<std::string_view> alive;
  for (const auto& job : snapshot.jobs) alive.insert(job->uid.str());
  for (const model::Pod* pod : suspects) {
    if (alive.contains(pod->controllerUid.str())) continue;
    orphans.push_back({pod->key, pod->uid});
    if (pod->terminating) orphans.back().grace = settings.maxGrace;
  }
  return orphans;
}

}  // namespace trainyard::core
