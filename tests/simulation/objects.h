#pragma once

#include <string>
#include <vector>

#include "simulation/scenario.h"

namespace trainyard::simulation {

inline constexpr const char* kRackLabel = "cloud.provider.com/topology-rack";
inline constexpr const char* kMaintenanceTaint = "example.com/maintenance";

// Bodies as users send them. `asksCpu`: the containers request cpu, otherwise only memory and GPUs.
[[nodiscard]] std::string jobJson(const JobPlan& plan, bool asksCpu);
// The Job or ReplicaSet of a plan with an owner.
[[nodiscard]] std::string ownerJson(const JobPlan& plan, bool asksCpu);
[[nodiscard]] std::string queueJson(const QueuePlan& plan);
// "low", "middle" and "high": 100, 200, 300.
[[nodiscard]] std::vector<std::string> priorityClassesJson();
// The default for containers without a cpu request.
[[nodiscard]] std::string limitRangeJson(int cpus);
// A merge patch that gives a suspended job another size and another program.
[[nodiscard]] std::string editedJson(const JobPlan& plan, int workers, bool asksCpu);
[[nodiscard]] std::string foreignPodJson(const std::string& name, int gpus, std::chrono::milliseconds runFor);
// A new node like a deleted one, which is given as the server showed it.
[[nodiscard]] std::string nodeJson(const std::string& deleted);

}  // namespace trainyard::simulation
