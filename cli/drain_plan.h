#pragma once

#include <string>
#include <vector>

#include "model/snapshot.h"

namespace trainyard::cli {

// The effect of a drain on one gang with members on the node.
struct DrainedGang {
  model::ObjectKey job;
  std::vector<model::ObjectKey> members;  // on that node, without ended ones
  bool keepsWork = false;                 // it continues from a checkpoint
  bool stays = false;                     // not evicted: its work would be lost, and --force is not set
  std::int64_t lostGpuSeconds = 0;        // work lost if it is evicted now
};

// Returns the gangs with members on the node, by name. A gang that would lose its work stays unless `force`.
[[nodiscard]] std::vector<DrainedGang> planDrain(const model::Snapshot& snapshot, const model::NodeName& node,
                                                 bool force);

// Returns a table with one line for each gang, and the advice for gangs that stay.
[[nodiscard]] std::string drainTable(const model::NodeName& node, const std::vector<DrainedGang>& gangs);

// The result of a drain.
struct DrainResult {
  bool cordoned = false;
  std::vector<DrainedGang> gangs;  // before the evictions
  std::vector<DrainedGang> there;  // at the end
};
// {"node","unschedulable","items":[{"namespace","name","members":[{"namespace","name"}],"keepsWork","stays",
// "lostGpuSeconds","left"}]}.
[[nodiscard]] std::string drainJson(const model::NodeName& node, const DrainResult& result);

}  // namespace trainyard::cli
