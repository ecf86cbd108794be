#include "core/claims.h"

#include <algorithm>

namespace trainyard::core {

std::map<model::ObjectKey, model::ObjectKey> claimedGangs(const model::Snapshot& snapshot) {
  std::map<model::ObjectKey, model::ObjectKey> claimed;
  for (const auto& job : snapshot.jobs) {
    const auto& proposal = job->status.gang.proposal;
    if (!proposal) continue;
    for (const model::Victim& victim : proposal->victims) {
      const auto pod =
          std::lower_bound(snapshot.pods.begin(), snapshot.pods.end(), victim.pod,
                           [](const auto& each, const model::ObjectKey& key) { return each->key < key; });
      if (pod == snapshot.pods.end() || (*pod)->key != victim.pod || (*pod)->uid != victim.uid) continue;
      if ((*pod)->member) claimed.try_emplace({victim.pod.ns, (*pod)->member->jobName}, job->key);
    }
  }
  return claimed;
}

}  // namespace trainyard::core
