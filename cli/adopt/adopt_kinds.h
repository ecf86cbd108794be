#pragma once

#include <map>
#include <string>

#include "cli/adopt/adoption.h"
#include "model/owner_kinds.h"

namespace trainyard::cli {

// Gangs that pods of the files name by label: NAMESPACE/NAME, and how many pods the files have of each.
using GangSizes = std::map<std::string, std::int64_t>;

// Adds the queue and `suspend` to `owner`, an object of this kind that is at `path` of the adopted one.
void adoptOwner(const model::OwnerKind& kind, Json& owner, const std::string& path, Adoption& adoption);

// Returns true for kinds whose pods arrive by their template: Pod, Deployment, LeaderWorkerSet and so on.
[[nodiscard]] bool hasOwnTemplates(const std::string& kind, const std::string& group);
// Counts the pods of such an object in the gangs that its templates name.
void countPods(const Json& object, GangSizes& sizes);
// Adds the queue, the gang and the gate to the templates of such an object.
void adoptPods(const GangSizes& sizes, Adoption& adoption);

}  // namespace trainyard::cli
