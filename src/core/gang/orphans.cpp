#include "core/gang/orphans.h"

#include <string_view>
#include <unordered_set>

#include "model/names.h"

namespace trainyard::core {

std::vector<DeletePod> gatedOrphans(const model::Snapshot& snapshot) {
  std::vector<const model::Pod*> gated;
  for (const auto& pod : snapshot.pods) {
    if (!pod->gangGated || pod->terminating) continue;
    if (pod->controllerKind == model::names::kTrainingJobKind) gated.push_back(pod.get());
  }
  std::vector<DeletePod> orphans;
  if (gated.empty()) return orphans;
  std::unordered_set<std::string_view> alive;
  for (const auto& job : snapshot.jobs) alive.insert(job->uid.str());
  for (const model::Pod* pod : gated) {
    if (!alive.contains(pod->controllerUid.str())) orphans.push_back({pod->key, pod->uid});
  }
  return orphans;
}

}  // namespace trainyard::core
