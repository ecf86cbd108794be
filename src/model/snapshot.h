#pragma once

#include <memory>
#include <vector>

#include "base/time.h"
#include "model/job.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/queue.h"
#include "model/shared_list.h"
#include "model/topology.h"

namespace trainyard::model {

// The cluster at one moment, as the caches saw it. Immutable: lists that did not change and objects are
// shared with the cache and with older snapshots. Every list is sorted by name (namespace first), so that
// equal clusters make equal snapshots.
struct Snapshot {
  base::WallTime now{};
  SharedList<Node> nodes;
  SharedList<Pod> pods;
  SharedList<Job> jobs;
  SharedList<Queue> queues;
  SharedList<PriorityClass> priorityClasses;
  std::vector<TopologyLevel> topology = defaultTopologyLevels();
};

}  // namespace trainyard::model
