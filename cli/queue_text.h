#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "model/queue.h"

// Texts about queues for people. Pure functions of the API's objects.
namespace trainyard::cli {

// One line for each queue, indented below its parent, siblings by name. GPUs
// only: queueDetails() has the other resources.
[[nodiscard]] std::string queuesTable(const std::vector<model::Queue>& queues);
// One JSON object: {"items":[…]}, each as queueJson() writes it, in the order of the table.
[[nodiscard]] std::string queuesJson(const std::vector<model::Queue>& queues);

// Everything about one queue.
[[nodiscard]] std::string queueDetails(const model::Queue& queue, base::WallTime now);
[[nodiscard]] std::string queueJson(const model::Queue& queue);

}  // namespace trainyard::cli
