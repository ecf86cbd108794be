#pragma once

// Internal to src/sim: the structural schema of a CustomResourceDefinition.

#include <string>
#include <vector>

#include "sim/api/json.h"
#include "sim/api/status.h"

namespace trainyard::sim {

// A schema is the JSON of `openAPIV3Schema`. Of CEL rules only `self == oldSelf` is carried out; others are
// the real server's business, and a test that depends on one has to run there.

// Drops what the schema does not name; the paths of what was dropped are added to `dropped`.
void pruneUnknown(const Json& schema, Json& value, std::vector<std::string>& dropped);
void applySchemaDefaults(const Json& schema, Json& value);
// `old` is null on create. On update what did not change is not checked again (ratcheting).
void validateSchema(const Json& schema, const Json& value, const Json* old, Causes& causes);

}  // namespace trainyard::sim
