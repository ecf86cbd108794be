#pragma once

#include <string>
#include <vector>

#include "cli/convert/value.h"

// Only converters include this file.
namespace trainyard::cli {

// A task of a Volcano Job, or several tasks of one pod each with names NAME-0, NAME-1, … that differ only by
// their numbers. Merged templates have $(TRAINYARD_INDEX) in place of the numbers.
struct VolcanoTask {
  std::string name;
  Json task;                              // the whole task, or the first one
  int merged = 0;                         // the number of merged tasks; 0: a single task
  std::vector<std::string> dropped = {};  // labels and annotations that number the tasks
};

[[nodiscard]] std::vector<VolcanoTask> mergedTasks(const Json& tasks);

// Returns "VC_TRAINER_0" for task "trainer-0".
[[nodiscard]] std::string variablePrefixOf(const std::string& task);

}  // namespace trainyard::cli
