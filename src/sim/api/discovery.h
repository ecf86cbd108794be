#pragma once

// Internal to src/sim: the paths that describe the server itself.

#include "sim/api/paths.h"
#include "sim/api/registry.h"
#include "sim/api/request_info.h"

namespace trainyard::sim {

// Returns the resource types of the server, its version, or its health.
[[nodiscard]] Outcome<Answer> discover(const Registry& registry, const ApiPath& path);

}  // namespace trainyard::sim
