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

// A node on which a member of a gang has ended, or from which one has gone, a moment ago, by the clock of
// whoever saw it.
struct FreedNode {
  NodeName node;
  Uid job;  // of the gang
  base::WallTime at{};
  friend bool operator==(const FreedNode&, const FreedNode&) = default;
};

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
  SharedList<Namespace> namespaces = {};
  Policy policy = {};
  std::shared_ptr<const RunTimes> runTimes = nullptr;  // absent: nothing was learnt
  std::vector<FreedNode> freed = {};                   // the earliest first; lost with whoever saw them
};

}  // namespace trainyard::model
