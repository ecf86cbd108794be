#pragma once

// Internal to src/sim: the only header that shows the JSON type to this library's .cpp files. No public
// header (server.h, transport.h, gc.h) includes it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace trainyard::sim {

using Json = nlohmann::json;

// Deeper documents are refused, because merge and validation recurse.
inline constexpr int kMaxJsonDepth = 256;

// kInvalid names the error and its position. `duplicates`, if given, collects the paths of duplicate keys.
[[nodiscard]] base::Result<Json> parseJson(std::string_view text,
                                           std::vector<std::string>* duplicates = nullptr);
// Parses every document of a YAML text into JSON.
[[nodiscard]] base::Result<std::vector<Json>> parseYaml(const std::string& text);

// Returns a member of an object; null if `value` is not an object or lacks the member.
[[nodiscard]] const Json* find(const Json& value, std::string_view key);
// As find(), along a path of keys.
[[nodiscard]] const Json* findPath(const Json& value, std::initializer_list<std::string_view> path);
// Returns the string along a path; empty if absent or not a string.
[[nodiscard]] std::string textAt(const Json& value, std::initializer_list<std::string_view> path);
[[nodiscard]] std::optional<std::int64_t> intAt(const Json& value,
                                                std::initializer_list<std::string_view> path);
[[nodiscard]] bool boolAt(const Json& value, std::initializer_list<std::string_view> path);
// Returns the array along a path, or an empty one.
[[nodiscard]] const Json& listAt(const Json& value, std::initializer_list<std::string_view> path);
[[nodiscard]] const Json& objectAt(const Json& value, std::initializer_list<std::string_view> path);
// Compares two values along a path; two absent values are equal.
[[nodiscard]] bool sameAt(const Json& a, const Json& b, std::initializer_list<std::string_view> path);
// Sets `to[key] = from[key]`, or erases it if `from` has no such member.
void copyMember(Json& to, const Json& from, const std::string& key);
[[nodiscard]] std::string dumpJson(const Json& value);

}  // namespace trainyard::sim
