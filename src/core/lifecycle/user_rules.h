#pragma once

#include <string>

#include "model/failure_policy.h"
#include "model/pod.h"

namespace trainyard::core {

enum class PodEnd {
  kFailed,  // by its program
  kLost,    // by its node or by a disruption
};

// The first of the user's rules that matches the pod of this role; nullptr where none does. A rule by exit
// codes matches the containers that ended with an error, init containers too, and no lost pod: the exit codes
// of a lost pod are those of its end by signal. A rule by conditions matches a pod that has any of them.
[[nodiscard]] const model::PodFailureRule* matchRule(const model::FailurePolicy& policy,
                                                     const std::string& role, const model::Pod& pod,
                                                     PodEnd end = PodEnd::kFailed);

}  // namespace trainyard::core
