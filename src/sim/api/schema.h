#pragma once

// Internal to src/sim: the structural schema of a CustomResourceDefinition.

#include <string>
#include <vector>

#include "sim/api/json.h"
#include "sim/api/status.h"

namespace trainyard::sim {

// A schema is the JSON of `openAPIV3Schema`. The only supported CEL rule is `self == oldSelf`; a test that
// depends on another rule has to run on a real server.

// Drops fields that the schema does not define; their paths are added to `dropped`.
void pruneUnknown(const Json& schema, Json& value, std::vector<std::string>& dropped);
void applySchemaDefaults(const Json& schema, Json& value);
// `old` is null on create. On update, unchanged values are not checked again (ratcheting).
void validateSchema(const Json& schema, const Json& value, const Json* old, Causes& causes);

}  // namespace trainyard::sim
