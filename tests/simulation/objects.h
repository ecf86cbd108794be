#pragma once

#include <string>

#include "simulation/scenario.h"

namespace trainyard::simulation {

// Bodies as users send them.
[[nodiscard]] std::string jobJson(const JobPlan& plan);
// A merge patch that gives a suspended job another size and another program.
[[nodiscard]] std::string editedJson(const JobPlan& plan, int workers);
[[nodiscard]] std::string strangerJson(const std::string& name, int gpus, std::chrono::milliseconds runFor);
// A new node like one that was deleted, which is given as the server showed it.
[[nodiscard]] std::string nodeJson(const std::string& deleted);

}  // namespace trainyard::simulation
