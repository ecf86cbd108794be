#pragma once

#include <cstdint>
#include <string_view>

#include "codec/counted_names.h"
#include "codec/field.h"
#include "codec/named_fields.h"
#include "model/resources.h"

namespace trainyard::codec {

enum class Rounding { kUp, kDown };

// The largest amount of objects whose quantities saturate: more than any node has. A thousand of them add up
// without reaching the end of the range, so that subtracting one of them restores the sum of the others.
inline constexpr std::int64_t kLargestAmount = std::int64_t{1} << 53;

// Adds one resource by its Kubernetes name. Resources that kube-scheduler does not count ("storage") are
// skipped, and so are those that `names` does not count.
void addResource(model::Resources& into, std::string_view name, const Field& quantity, Rounding rounding,
                 CountedNames& names);

// The kubelet's reports about the containers of a pod; empty for a template.
struct ContainerReports {
  NamedFields init;
  NamedFields regular;
  bool resizeInfeasible = false;  // the node lacks the capacity for the changed spec
};

// Returns what kube-scheduler counts on a node for this PodSpec; see readPodShape(). A container that is
// being resized counts as the maximum of the spec's requests and the kubelet's allocation. An infeasible
// resize does not count.
[[nodiscard]] model::Resources readPodRequests(const Field& podSpec, const ContainerReports& reports,
                                               CountedNames& names);

// Returns more than any node has of each native resource and of each kind of GPU.
[[nodiscard]] model::Resources wholeNode();

}  // namespace trainyard::codec
