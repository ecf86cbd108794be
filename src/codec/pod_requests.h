#pragma once

#include <string_view>

#include "codec/field.h"
#include "model/resources.h"

namespace trainyard::codec {

enum class Rounding { kUp, kDown };

// Adds one resource by its Kubernetes name. Resources that kube-scheduler does not count ("storage") are left
// out.
void addResource(model::Resources& into, std::string_view name, const Field& quantity, Rounding rounding);

// What kube-scheduler charges a node for this PodSpec; see readPodShape().
[[nodiscard]] model::Resources readPodRequests(const Field& podSpec);

}  // namespace trainyard::codec
