#pragma once

#include <memory>
#include <vector>

#include "base/time.h"
#include "model/job.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/queue.h"
#include "model/topology.h"

namespace trainyard::model {

// The cluster at one moment, as the caches saw it. Immutable: objects are shared with the cache and with
// older snapshots, so taking one copies pointers only. Every list is sorted by name (namespace first), so
// that equal clusters make equal snapshots.
struct Snapshot {
  base::WallTime now{};
  std::vector<std::shared_ptr<const Node>> nodes;
  std::vector<std::shared_ptr<const Pod>> pods;
  std::vector<std::shared_ptr<const Job>> jobs;
  std::vector<std::shared_ptr<const Queue>> queues;
  std::vector<std::shared_ptr<const PriorityClass>> priorityClasses;
  std::vector<TopologyLevel> topology = defaultTopologyLevels();
};

}  // namespace trainyard::model
