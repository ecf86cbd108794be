#pragma once

#include <memory>

#include "base/time.h"
#include "model/job.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/policy.h"
#include "model/queue.h"
#include "model/run_times.h"
#include "model/shared_list.h"

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
  SharedList<Namespace> namespaces = {};
  Policy policy = {};
  std::shared_ptr<const RunTimes> runTimes = nullptr;  // absent: nothing was learnt
};

}  // namespace trainyard::model
