#pragma once

#include <string>

#include "model/snapshot.h"

// About the cluster as a whole, as tables and as JSON. Pure: what the API shows, and the rules that the
// operator judges by.
namespace trainyard::cli {

// One line for each node that has GPUs, or for each with `all`: used and allocatable GPUs, gangs that have
// members there, and why nothing new comes. Sorted by name, with a line for all of them at the end.
[[nodiscard]] std::string nodesTable(const model::Snapshot& snapshot, bool all);
// {"items":[{"name","gpus","usedGpus","ready","unschedulable","deleting","suspected","trainingJobs":
// [{"namespace","name"}],"otherPods"}],"gpus","usedGpus"}, with all gangs of a node.
[[nodiscard]] std::string nodesJson(const model::Snapshot& snapshot, bool all);

// Queues by the GPUs that they hold, then the `count` jobs that hold most, and what waits. Ties by name.
[[nodiscard]] std::string topTable(const model::Snapshot& snapshot, std::size_t count);
// {"items":[{"namespace","name","queue","phase","gpus","creationTimestamp"}],"placed","queues":[{"name",
// "gpus","placed","waiting"}],"gpus"}: the `count` jobs of `placed` that have places; GPUs of the cluster.
[[nodiscard]] std::string topJson(const model::Snapshot& snapshot, std::size_t count);

}  // namespace trainyard::cli
