#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codec/json_value.h"
#include "codec/json_writer.h"

namespace trainyard::codec {

// Writes the JSON merge patch (RFC 7386) from one object to another as one value: changed members, null for
// removed ones, lists as a whole. If the objects are equal, it writes nothing and returns false.
[[nodiscard]] bool writeMergePatch(const JsonValue& before, const JsonValue& after, JsonWriter& out);

// The merge patch of an object's status from one text to another; nullopt if they are equal. The API
// server accepts the patch for this resourceVersion only.
[[nodiscard]] std::optional<std::string> encodeStatusChange(std::string_view resourceVersion,
                                                            std::string_view before, std::string_view after);

}  // namespace trainyard::codec
