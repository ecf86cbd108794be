#pragma once

#include <string>

#include "model/snapshot.h"

// Tables about the cluster as a whole. Pure: what the API shows, and the rules that the operator judges by.
namespace trainyard::cli {

// One line for each node that has GPUs, or for each with `all`: used and allocatable GPUs, gangs that have
// members there, and why nothing new comes. Sorted by name, with a line for all of them at the end.
[[nodiscard]] std::string nodesTable(const model::Snapshot& snapshot, bool all);

// Queues by the GPUs that they hold, then the `count` jobs that hold most, and what waits. Ties by name.
[[nodiscard]] std::string topTable(const model::Snapshot& snapshot, std::size_t count);

}  // namespace trainyard::cli
