#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

// Objects of other systems as the converters read them; included by them alone.
namespace trainyard::cli {

using Json = nlohmann::ordered_json;  // in the order in which people wrote it

inline Json get(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found == object.end() ? Json() : *found;
}

// object.a.b.c, null where one of them is missing.
template <typename... Keys>
Json get(const Json& object, const char* key, Keys... more) {
  return get(get(object, key), more...);
}

// Leaves `to` as it is where `from` has no such key.
void copy(const Json& from, const char* key, Json& to, const char* as);

// An empty list of what is no list.
[[nodiscard]] Json listOf(const Json& value);

// Empty of what is no text.
[[nodiscard]] std::string textOf(const Json& value);

// A text as it is, a number as JSON writes it; empty of everything else.
[[nodiscard]] std::string wordOf(const Json& value);

// 1 where there is no count, or no number that could be one.
[[nodiscard]] std::int64_t countOf(const Json& count);

// Whether a variable stands there that something else is to replace by a number: $NODES, ${NODES}.
[[nodiscard]] bool isPlaceholder(const Json& value);

// GPUs that the containers of a pod template ask for.
[[nodiscard]] std::int64_t gpusOf(const Json& podTemplate);

// Every container and init container of a pod template.
void forEachContainer(Json& podTemplate, const std::function<void(Json& container)>& visit);
// Every text that a program of the template is given: command, args, values of variables, commands of probes
// and hooks.
void forEachText(Json& podTemplate, const std::function<void(std::string& text)>& visit);

// The variable's value in the first container that sets it; of one that is set by reference, empty.
[[nodiscard]] std::optional<std::string> variableOf(const Json& podTemplate, const std::string& name);
// As a strategic merge patch: maps into maps, lists of named elements by their names, other lists appended.
void mergeInto(Json& target, const Json& patch);

}  // namespace trainyard::cli
