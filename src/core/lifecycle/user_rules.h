#pragma once

#include <string>

#include "model/failure_policy.h"
#include "model/pod.h"

namespace trainyard::core {

// The first of the user's rules that matches the failed pod of this role; nullptr where none does. A rule by
// exit codes looks at the containers that ended with an error, init containers too; one by conditions matches
// when the pod has any of them.
[[nodiscard]] const model::PodFailureRule* matchRule(const model::FailurePolicy& policy,
                                                     const std::string& role, const model::Pod& pod);

}  // namespace trainyard::core
