#pragma once

#include <string>
#include <vector>

#include "cli/convert/value.h"

// Included by the converters alone.
namespace trainyard::cli {

// A task of a Volcano Job; or several of one pod each, named NAME-0, NAME-1, …, that differ by their numbers
// only. Their templates then have $(TRAINYARD_INDEX) in place of these.
struct VolcanoTask {
  std::string name;
  Json task;                              // the whole of it, or of the first
  int merged = 0;                         // how many; 0: it stands for itself
  std::vector<std::string> dropped = {};  // labels and annotations that number the tasks
};

[[nodiscard]] std::vector<VolcanoTask> mergedTasks(const Json& tasks);

// "VC_TRAINER_0" of task "trainer-0".
[[nodiscard]] std::string variablePrefixOf(const std::string& task);

}  // namespace trainyard::cli
