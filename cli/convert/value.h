#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

// Helpers to read objects of other systems; only converters include this file.
namespace trainyard::cli {

using Json = nlohmann::ordered_json;  // in the order in which people wrote it

inline Json get(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found == object.end() ? Json() : *found;
}

// Returns object.a.b.c, null if one of them is missing.
template <typename... Keys>
Json get(const Json& object, const char* key, Keys... more) {
  return get(get(object, key), more...);
}

// Leaves `to` unchanged if `from` has no such key.
void copy(const Json& from, const char* key, Json& to, const char* as);

// An empty list if the value is not a list.
[[nodiscard]] Json listOf(const Json& value);

// Empty if the value is not a text.
[[nodiscard]] std::string textOf(const Json& value);

// A text unchanged, a number in JSON's form; empty for all other values.
[[nodiscard]] std::string valueText(const Json& value);

// 1 if there is no count, or no number that could be a count.
[[nodiscard]] std::int64_t countOf(const Json& count);

// Returns true for a variable that another program replaces by a number: $NODES, ${NODES}.
[[nodiscard]] bool isPlaceholder(const Json& value);

// Returns the number of GPUs that the containers of a pod template request.
[[nodiscard]] std::int64_t gpusOf(const Json& podTemplate);

// Visits every container and init container of a pod template.
void forEachContainer(Json& podTemplate, const std::function<void(Json& container)>& visit);
// Visits every text that a program of the template receives: command, args,
// values of variables, commands of probes and hooks.
void forEachText(Json& podTemplate, const std::function<void(std::string& text)>& visit);

// Returns the variable's value in the first container that sets it; empty for a value by reference.
[[nodiscard]] std::optional<std::string> variableOf(const Json& podTemplate, const std::string& name);
// Merges like a strategic merge patch: maps by key, lists of named elements by name, other lists by append.
void mergeInto(Json& target, const Json& patch);

}  // namespace trainyard::cli
