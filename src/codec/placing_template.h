#pragma once

#include "codec/json_value.h"
#include "codec/json_writer.h"

namespace trainyard::codec {

// Writes a PodSpec without what placing does not need: commands, environments, images, mounts, volumes that
// restrict no node. A Gang keeps it for each role, and templates may be as large as an object may be.
void writePlacingSpec(const JsonValue& podSpec, JsonWriter& out);

}  // namespace trainyard::codec
