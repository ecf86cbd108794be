#pragma once

#include <string>
#include <vector>

#include "model/snapshot.h"

namespace trainyard::cli {

// What emptying a node means to one gang that has members there.
struct DrainedGang {
  model::ObjectKey job;
  std::vector<model::ObjectKey> members;  // on that node, that have not ended
  bool keepsWork = false;                 // it goes on from a checkpoint
  bool stays = false;                     // nobody asked to stop it though its work is lost
  std::int64_t lostGpuSeconds = 0;        // work lost if it is stopped now
};

// Gangs with members on the node, by name. One that would lose its work stays unless `force`.
[[nodiscard]] std::vector<DrainedGang> planDrain(const model::Snapshot& snapshot, const model::NodeName& node,
                                                 bool force);

// One line for each, as a table, and what to do about those that stay.
[[nodiscard]] std::string drainTable(const model::NodeName& node, const std::vector<DrainedGang>& gangs);

// What came of it.
struct DrainResult {
  bool cordoned = false;
  std::vector<DrainedGang> gangs;  // as they were asked
  std::vector<DrainedGang> there;  // in the end
};
// {"node","unschedulable","items":[{"namespace","name","members":[{"namespace","name"}],"keepsWork","stays",
// "lostGpuSeconds","left"}]}.
[[nodiscard]] std::string drainJson(const model::NodeName& node, const DrainResult& result);

}  // namespace trainyard::cli
