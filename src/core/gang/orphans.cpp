#include "core/gang/orphans.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "core/gang/gang_removal.h"
#include "core/ledger/members.h"
#include "model/managed_by.h"
#include "model/names.h"

namespace trainyard::core {

namespace {

// Members whose owner reference was removed: they would run on, and no queue would be charged for them. Their
// name and epoch are those of a member that the job's record had.
std::vector<DeletePod> disownedMembers(const model::Snapshot& snapshot) {
  std::vector<DeletePod> disowned;
  for (const auto& pod : snapshot.pods) {
    if (!pod->member || !pod->controllerUid.empty() || pod->terminating || pod->finished()) continue;
    const model::ObjectKey key{pod->key.ns, pod->member->jobName};
    const auto job =
        std::lower_bound(snapshot.jobs.begin(), snapshot.jobs.end(), key,
                         [](const auto& each, const auto& wanted) { return each->key < wanted; });
    if (job == snapshot.jobs.end() || (*job)->key != key || !namedAsMember(*pod, **job)) continue;
    if (model::leftToOthers(**job) || pod->member->epoch > newestEpoch((*job)->status.gang)) continue;
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
