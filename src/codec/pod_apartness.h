#pragma once

#include <string_view>

#include "codec/counted_names.h"
#include "codec/field.h"
#include "model/ids.h"
#include "model/job.h"

// Decides which pods must not share a node: required anti-affinity of a role's members with host name
// topology. It is counted as a resource of which every node has one (model/one_per_node.h). Other required
// relations between pods are refused by name: the placement of the whole gang follows other rules.
namespace trainyard::codec {

// Adds the amounts that the required anti-affinity of this PodSpec takes from a node.
void addApartness(const Field& podSpec, std::string_view ns, CountedNames& names, model::Resources& requests);

// Complains about relations to other pods that a template requires and Trainyard does not honour.
void checkApartness(const Field& roles, const model::ObjectKey& job);

}  // namespace trainyard::codec
