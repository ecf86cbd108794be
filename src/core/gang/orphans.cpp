#include "core/gang/orphans.h"

#include <string_view>
#include <unordered_set>

#include "core/gang/gang_removal.h"
#include "model/names.h"

namespace trainyard::core {

std::vector<DeletePod> sweepOrphans(const model::Snapshot& snapshot, const Settings& settings) {
  std::vector<const model::Pod*> suspects;
  for (const auto& pod : snapshot.pods) {
    const bool gated = pod->gangGated && !pod->terminating;
    if (!gated && !Removal::outlasts(*pod, settings, snapshot.now)) continue;
    if (pod->controllerKind == model::names::kTrainingJobKind) suspects.push_back(pod.get());
  }
  std::vector<DeletePod> orphans;
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
