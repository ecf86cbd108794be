#pragma once

#include <cstddef>
#include <string_view>

#include "codec/field.h"

namespace trainyard::codec {

// Complains about forbidden and missing parts of a member's PodTemplateSpec: fields that the operator sets
// itself, fields that would break the gang, and what the API server would refuse later. `priorityClassName`
// is the job's.
void checkPodTemplate(const Field& podTemplate, std::string_view priorityClassName);

// The number of keys and values in a selector's expressions: each is compared with every node.
[[nodiscard]] std::size_t countExpressions(const JsonValue& expressions);

// Complains if a PodSpec has more node constraints than can be compared with each node (model/limits.h).
void checkPodConstraints(const Field& podSpec);

}  // namespace trainyard::codec
