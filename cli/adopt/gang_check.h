#pragma once

#include <string>
#include <vector>

#include "cli/adopt/adoption.h"
#include "codec/gang_of_pods.h"
#include "model/owner_kinds.h"

// What the operator will make of an object, by the functions that it uses itself.
namespace trainyard::cli {

// Reports the Gang of an object whose kind has a row, or why there can be none. Returns the gang's pods, and
// 0 if each pod is placed by itself.
int checkOwner(const model::OwnerKind& kind, const Json& object, Adoption& adoption);

// Returns false for a Job whose pods the operator places each by itself. True if the object cannot be read.
[[nodiscard]] bool isGang(const model::OwnerKind& kind, const Json& object);

// The same for pods that others make; `gang` is the name of the Gang.
void checkPods(const std::string& gang, const std::vector<codec::RoleOfPods>& roles, Adoption& adoption);

}  // namespace trainyard::cli
