#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "codec/field.h"
#include "codec/pod_requests.h"
#include "model/constraints.h"

namespace trainyard::codec {

// The scheduling constraints of a pod or of a template; complaints go to the field's errors.
// Requests are counted as kube-scheduler counts them, after the API server's defaulting:
//   max(sum of containers and sidecars, each init container with the sidecars before it)
//   -> pod-level resources in place of it where set -> + overhead -> pods = 1
[[nodiscard]] model::PodShape readPodShape(const Field& podSpec, const ContainerReports& reports,
                                           CountedNames& names);

// The claims that a pod of this name uses: those in its spec, and the ephemeral ones that are created for it.
[[nodiscard]] std::vector<std::string> readClaimsOfPod(const Field& podSpec, std::string_view podName);

// Reads spec.resourceClaims. Which claims were made from templates is in the pod's status.
[[nodiscard]] std::vector<model::DeviceClaimRef> readDeviceClaims(const Field& list);

// The termination grace period in seconds, as Kubernetes interprets the field; at most ten years, so that
// adding it to a time does not overflow.
[[nodiscard]] std::chrono::seconds readGracePeriod(const Field& podSpec);

// Reads a map of quantities such as status.allocatable, rounded down to what a node offers.
[[nodiscard]] model::Resources readOffered(const Field& map, CountedNames& names);

// Reads a list of NodeSelectorTerms, one of which must match.
[[nodiscard]] std::vector<model::NodeSelectorTerm> readNodeSelectorTerms(const Field& list);

// Reads the terms of a pod's required node affinity; nullopt if it has none.
[[nodiscard]] std::optional<std::vector<model::NodeSelectorTerm>> readRequiredAffinity(const Field& podSpec);

// Reads the terms of a pod's preferred node affinity.
[[nodiscard]] std::vector<model::NodeSelectorTerm> readPreferredAffinity(const Field& podSpec);

[[nodiscard]] model::Labels readLabels(const Field& map);

}  // namespace trainyard::codec
