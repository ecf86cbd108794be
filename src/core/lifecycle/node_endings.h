#pragma once

#include <optional>
#include <string>

#include "model/failure_class.h"
#include "model/pod.h"

namespace trainyard::core {

// Returns why a node, and not the program, ended a pod or is about to: NodeLost, Evicted, Preempted or
// AdmissionRefused. Returns nullopt if the program or the pod's own spec ended it.
//
// A node ended a pod if
//   1 the pod has the condition DisruptionTarget, or
//   2 status.reason is in the table of node_endings.cpp, or
//   3 the kubelet reports that it rejected the pod, or
//   4 status.reason is set although no container has ended: the program had no part in it.
// The exceptions are ends that the pod itself asks for: DeadlineExceeded, and an eviction because the pod
// exceeds its own limits.
[[nodiscard]] std::optional<model::FailureClass> endedByNode(const model::Pod& pod);

// The same table as regular expressions over pod reasons, for the rules that classify failures.
[[nodiscard]] std::string refusalReasons();
[[nodiscard]] std::string nodeLossReasons();

}  // namespace trainyard::core
