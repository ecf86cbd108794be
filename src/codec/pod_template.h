#pragma once

#include <cstddef>
#include <string_view>

#include "codec/field.h"

namespace trainyard::codec {

// Complains about what a member's PodTemplateSpec must not hold, or must: what the operator sets itself, what
// would break the gang, and what the API server would refuse anyway and can be said earlier.
// `priorityClassName` is the job's.
void checkPodTemplate(const Field& podTemplate, std::string_view priorityClassName);

// Keys and values of a selector's expressions: each is compared with every node.
[[nodiscard]] std::size_t wordsIn(const JsonValue& expressions);

// Complains where a PodSpec says more about nodes than is compared with each of them (model/limits.h).
void checkPodConstraints(const Field& podSpec);

}  // namespace trainyard::codec
