#pragma once

#include <memory>
#include <vector>

#include "base/time.h"
#include "model/job.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/policy.h"
#include "model/queue.h"
#include "model/run_times.h"
#include "model/shared_list.h"

namespace trainyard::model {

// A node on which a gang's member has just ended, or from which one has just been removed, by the clock of
// the observing process.
struct FreedNode {
  NodeName node;
  Uid job;  // of the gang
  base::WallTime at{};
  friend bool operator==(const FreedNode&, const FreedNode&) = default;
};

// The cluster at one moment, as the caches have it. Immutable: unchanged lists and objects are shared with
// the cache and with older snapshots. Every list is sorted by name (namespace first), so equal clusters make
// equal snapshots.
struct Snapshot {
  base::WallTime now{};
  SharedList<Node> nodes;
  SharedList<Pod> pods;
  SharedList<Job> jobs;
  SharedList<Queue> queues;
  SharedList<PriorityClass> priorityClasses;
  SharedList<Namespace> namespaces = {};
  Policy policy = {};
  std::shared_ptr<const RunTimes> runTimes = nullptr;  // absent: no run times recorded
  std::vector<FreedNode> freed = {};                   // earliest first; lost with the process
};

}  // namespace trainyard::model
