#pragma once

// Internal to src/sim: application/strategic-merge-patch+json.

#include "sim/api/json.h"
#include "sim/api/status.h"
#include "sim/api/types.h"

namespace trainyard::sim {

// Returns `original` changed by `patch`; lists merge as `type` defines. Supports $patch (replace, delete),
// $retainKeys and $deleteFromPrimitiveList/; $setElementOrder/ is accepted without effect.
[[nodiscard]] Outcome<Json> strategicMerge(const StructType& type, const Json& original, const Json& patch);

}  // namespace trainyard::sim
