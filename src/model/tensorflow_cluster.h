#pragma once

#include <string>
#include <string_view>

#include "model/job.h"

namespace trainyard::model {

// The content of `cluster` in a TF_CONFIG, with the gang's size in its record.

// "role":["host:port",…]; empty for the evaluator: the others would wait for a listed one.
[[nodiscard]] std::string tensorFlowRole(const Job& job, const Role& role);

// All roles.
[[nodiscard]] std::string tensorFlowCluster(const Job& job);

// "role":{"index":"host:port"}: one task of the role only, which TensorFlow accepts as well.
[[nodiscard]] std::string tensorFlowTask(const Job& job, std::string_view role, int index);

// With parameter servers, workers do not connect to each other.
[[nodiscard]] bool hasParameterServers(const JobSpec& spec);

}  // namespace trainyard::model
