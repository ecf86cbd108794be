#pragma once

#include <string_view>

#include "codec/counted_names.h"
#include "codec/field.h"
#include "model/ids.h"
#include "model/job.h"

// Which pods must not share a node: required anti-affinity of a role's members against each other, by host
// name. It is counted as something of which every node has one (model/one_a_node.h). Whatever else pods may
// require of each other is refused by name: places are chosen for the whole gang, by other rules.
namespace trainyard::codec {

// Adds what the required anti-affinity of this PodSpec takes of a node.
void addApartness(const Field& podSpec, std::string_view ns, CountedNames& names, model::Resources& requests);

// Complains about what a template requires of other pods and is not honoured.
void checkApartness(const Field& roles, const model::ObjectKey& job);

}  // namespace trainyard::codec
