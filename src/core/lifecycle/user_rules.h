#pragma once

#include <string>

#include "model/failure_policy.h"
#include "model/pod.h"

namespace trainyard::core {

enum class PodEnd {
  kFailed,  // by its program
  kLost,    // by its node or by a disruption
};

// Returns the first user rule that matches the pod of this role; nullptr if none does. A rule by exit codes
// matches containers that ended with an error, including init containers. It never matches a lost pod: a
// signal decides the exit codes of that one. A rule by conditions matches a pod with any of them.
[[nodiscard]] const model::PodFailureRule* matchRule(const model::FailurePolicy& policy,
                                                     const std::string& role, const model::Pod& pod,
                                                     PodEnd end = PodEnd::kFailed);

}  // namespace trainyard::core
