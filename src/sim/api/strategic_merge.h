#pragma once

// Internal to src/sim: application/strategic-merge-patch+json.

#include "sim/api/json.h"
#include "sim/api/status.h"
#include "sim/api/types.h"

namespace trainyard::sim {

// `original` changed by `patch`, lists merged as `type` says. Takes the directives $patch (replace, delete),
// $retainKeys and $deleteFromPrimitiveList/; $setElementOrder/ is accepted and has no effect.
[[nodiscard]] Outcome<Json> strategicMerge(const StructType& type, const Json& original, const Json& patch);

}  // namespace trainyard::sim
