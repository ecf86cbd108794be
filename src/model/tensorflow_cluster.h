#pragma once

#include <string>
#include <string_view>

#include "model/job.h"

namespace trainyard::model {

// The inside of `cluster` in a TF_CONFIG, as large as the gang is by its record.

// "role":["host:port",…]; empty for the evaluator, which others would wait for if it were named.
[[nodiscard]] std::string tensorFlowRole(const Job& job, const Role& role);

// All roles.
[[nodiscard]] std::string tensorFlowCluster(const Job& job);

// "role":{"index":"host:port"}: one task of its role and no other, which TensorFlow takes as well.
[[nodiscard]] std::string tensorFlowTask(const Job& job, std::string_view role, int index);

// With parameter servers no worker talks to another one.
[[nodiscard]] bool hasParameterServers(const JobSpec& spec);

}  // namespace trainyard::model
