#pragma once

#include <string>

#include "model/snapshot.h"

// Tables and JSON about the cluster as a whole. Pure functions of the API's
// objects and of the rules that the operator applies.
namespace trainyard::cli {

// One line for each node with GPUs, or for every node with `all`. Shows used and allocatable GPUs, gangs with
// members there, and why the node takes no new pods. Sorted by name, then a line of totals.
[[nodiscard]] std::string nodesTable(const model::Snapshot& snapshot, bool all);
// {"items":[{"name","gpus","usedGpus","ready","unschedulable","deleting","suspected","trainingJobs":
// [{"namespace","name"}],"otherPods"}],"gpus","usedGpus"}, with all gangs of a node.
[[nodiscard]] std::string nodesJson(const model::Snapshot& snapshot, bool all);

// Queues by the GPUs that they use, then the `count` jobs with the most GPUs, and pending jobs. Ties by name.
[[nodiscard]] std::string topTable(const model::Snapshot& snapshot, std::size_t count);
// {"items":[{"namespace","name","queue","phase","gpus","creationTimestamp"}],"placed","queues":[{"name",
// "gpus","placed","waiting"}],"gpus"}: the first `count` of `placed` jobs; the cluster's GPUs.
[[nodiscard]] std::string topJson(const model::Snapshot& snapshot, std::size_t count);

}  // namespace trainyard::cli
