#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codec/json_value.h"
#include "codec/json_writer.h"

namespace trainyard::codec {

// Writes the JSON merge patch (RFC 7386) from one object to another as one value: members that differ, null
// for those that went, lists as a whole. Nothing is written, and false given, when they are equal.
[[nodiscard]] bool writeMergePatch(const JsonValue& before, const JsonValue& after, JsonWriter& out);

// The merge patch of an object's status, from one text of it to another; nothing when they are equal. With a
// resourceVersion it is taken only of that version.
[[nodiscard]] std::optional<std::string> encodeStatusChange(std::optional<std::string_view> resourceVersion,
                                                            std::string_view before, std::string_view after);

}  // namespace trainyard::codec
