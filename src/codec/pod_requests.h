#pragma once

#include <string_view>

#include "codec/counted_names.h"
#include "codec/field.h"
#include "codec/named_fields.h"
#include "model/resources.h"

namespace trainyard::codec {

enum class Rounding { kUp, kDown };

// Adds one resource by its Kubernetes name. Resources that kube-scheduler does not count ("storage") are left
// out, and those that `names` does not take.
void addResource(model::Resources& into, std::string_view name, const Field& quantity, Rounding rounding,
                 CountedNames& names);

// What the kubelet says about the containers of a pod; empty for a template.
struct ContainerReports {
  NamedFields init;
  NamedFields regular;
  bool resizeInfeasible = false;  // the node cannot give what the spec was changed to
};

// What kube-scheduler charges a node for this PodSpec; see readPodShape(). A container that is being resized
// counts as the most of what the spec wants and of what the kubelet has given it; an infeasible wish does not
// count.
[[nodiscard]] model::Resources readPodRequests(const Field& podSpec, const ContainerReports& reports,
                                               CountedNames& names);

}  // namespace trainyard::codec
