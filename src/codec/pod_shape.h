#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "codec/field.h"
#include "codec/pod_requests.h"
#include "model/constraints.h"

namespace trainyard::codec {

// The scheduling side of a PodSpec, of a pod or of a template; complaints go to the field's errors.
// Requests are counted as kube-scheduler counts them, after the API server's defaulting:
//   max(sum of containers and sidecars, each init container with the sidecars before it)
//   -> pod-level resources in place of it where set -> + overhead -> pods = 1
[[nodiscard]] model::PodShape readPodShape(const Field& podSpec, const ContainerReports& reports,
                                           CountedNames& names);

// The claims that a pod of this name uses: those that it names, and those that are made for it alone.
[[nodiscard]] std::vector<std::string> readClaimsOfPod(const Field& podSpec, std::string_view podName);

// Seconds that the pod has to end, as Kubernetes understands what the field says; no more than ten years, so
// that a time plus this is still a time.
[[nodiscard]] std::chrono::seconds readGracePeriod(const Field& podSpec);

// A map of quantities, as in status.allocatable: rounded down, what a node offers.
[[nodiscard]] model::Resources readOffered(const Field& map, CountedNames& names);

// A list of NodeSelectorTerms, of which one must hold.
[[nodiscard]] std::vector<model::NodeSelectorTerm> readNodeSelectorTerms(const Field& list);

// Of a pod's required node affinity; absent where it has none.
[[nodiscard]] std::optional<std::vector<model::NodeSelectorTerm>> readRequiredAffinity(const Field& podSpec);

// Of a pod's preferred node affinity.
[[nodiscard]] std::vector<model::NodeSelectorTerm> readPreferredAffinity(const Field& podSpec);

[[nodiscard]] model::Labels readLabels(const Field& map);

}  // namespace trainyard::codec
