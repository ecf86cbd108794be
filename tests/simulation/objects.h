#pragma once

#include <string>
#include <vector>

#include "simulation/scenario.h"

namespace trainyard::simulation {

inline constexpr const char* kRackLabel = "cloud.provider.com/topology-rack";
inline constexpr const char* kMaintenanceTaint = "example.com/maintenance";

// Bodies as users send them. `asksCpu`: its containers ask for cpu, else only for memory and GPUs.
[[nodiscard]] std::string jobJson(const JobPlan& plan, bool asksCpu);
[[nodiscard]] std::string queueJson(const QueuePlan& plan);
// "low", "middle" and "high": 100, 200, 300.
[[nodiscard]] std::vector<std::string> priorityClassesJson();
// Containers that ask for no cpu get so many.
[[nodiscard]] std::string limitRangeJson(int cpus);
// A merge patch that gives a suspended job another size and another program.
[[nodiscard]] std::string editedJson(const JobPlan& plan, int workers, bool asksCpu);
[[nodiscard]] std::string strangerJson(const std::string& name, int gpus, std::chrono::milliseconds runFor);
// A new node like one that was deleted, which is given as the server showed it.
[[nodiscard]] std::string nodeJson(const std::string& deleted);

}  // namespace trainyard::simulation
