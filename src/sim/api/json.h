#pragma once

// Internal to src/sim: the one header that shows the JSON type to this library's .cpp files. No public header
// (server.h, transport.h, gc.h) includes it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace trainyard::sim {

using Json = nlohmann::json;

// Deeper documents are refused: merge and validation recurse.
inline constexpr int kMaxJsonDepth = 256;

// kInvalid says what is wrong and where. `duplicates` (if given) collects the paths of keys met twice.
[[nodiscard]] base::Result<Json> parseJson(std::string_view text,
                                           std::vector<std::string>* duplicates = nullptr);
// Every document of a YAML text, as JSON.
[[nodiscard]] base::Result<std::vector<Json>> parseYaml(const std::string& text);

// Member of an object; null when `value` is no object or has no such member.
[[nodiscard]] const Json* find(const Json& value, std::string_view key);
// The same along a path of keys.
[[nodiscard]] const Json* findPath(const Json& value, std::initializer_list<std::string_view> path);
// A string member along a path, empty when absent or not a string.
[[nodiscard]] std::string textAt(const Json& value, std::initializer_list<std::string_view> path);
[[nodiscard]] std::optional<std::int64_t> intAt(const Json& value,
                                                std::initializer_list<std::string_view> path);
[[nodiscard]] bool boolAt(const Json& value, std::initializer_list<std::string_view> path);
// The array along a path, or an empty one.
[[nodiscard]] const Json& listAt(const Json& value, std::initializer_list<std::string_view> path);
[[nodiscard]] const Json& objectAt(const Json& value, std::initializer_list<std::string_view> path);
// Equal, where both may be absent.
[[nodiscard]] bool sameAt(const Json& a, const Json& b, std::initializer_list<std::string_view> path);
// `to[key] = from[key]`, or erases it where `from` has none.
void copyMember(Json& to, const Json& from, const std::string& key);
[[nodiscard]] std::string dumpJson(const Json& value);

}  // namespace trainyard::sim
