#include "core/freed_places.h"

#include <algorithm>

namespace trainyard::core {

FreedPlaces freedPlaces(const model::Snapshot& snapshot) {
  const auto keep = snapshot.policy.backfill.keepFreed;
  FreedPlaces freed;
  if (keep.count() == 0) return freed;
  // Whether what ended then is kept now.
  const auto kept = [&](std::optional<base::WallTime> ended) {
    if (!ended || *ended > snapshot.now || *ended + keep <= snapshot.now) return false;
    if (!freed.nextEnd || *ended + keep < *freed.nextEnd) freed.nextEnd = *ended + keep;
    return true;
  };
  for (const auto& pod : snapshot.pods) {
    if (!pod->finished() || !pod->member || !pod->bound() || !pod->exit) continue;
    if (kept(pod->exit->finishedAt)) freed.nodes.push_back(pod->node);
  }
  for (const auto& job : snapshot.jobs) {
    if (!job->status.completionTime || !job->status.gang.placed) continue;
    if (!kept(job->status.completionTime)) continue;
    for (const auto& place : job->status.gang.placed->assignments) freed.nodes.push_back(place.node);
  }
  std::sort(freed.nodes.begin(), freed.nodes.end());
  freed.nodes.erase(std::unique(freed.nodes.begin(), freed.nodes.end()), freed.nodes.end());
  return freed;
}

}  // namespace trainyard::core
