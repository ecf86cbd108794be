#pragma once

#include <string_view>

#include "codec/counted_names.h"
#include "codec/field.h"
#include "codec/named_fields.h"
#include "model/resources.h"

namespace trainyard::codec {

enum class Rounding { kUp, kDown };

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

}  // namespace trainyard::codec
