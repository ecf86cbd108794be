#pragma once

#include "codec/json_value.h"
#include "codec/json_writer.h"

namespace trainyard::codec {

// Writes the JSON merge patch (RFC 7386) from one object to another as one value: members that differ, null
// for those that went, lists as a whole. Nothing is written, and false given, when they are equal.
[[nodiscard]] bool writeMergePatch(const JsonValue& before, const JsonValue& after, JsonWriter& out);

}  // namespace trainyard::codec
