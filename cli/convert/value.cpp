#include "cli/convert/value.h"

#include <algorithm>
#include <utility>

#include <re2/re2.h>

#include "base/quantity.h"
#include "model/names.h"

namespace trainyard::cli {
namespace {

void visitTexts(Json& value, const std::function<void(std::string&)>& visit) {
  if (value.is_string()) return visit(value.get_ref<std::string&>());
  if (!value.is_structured()) return;
  for (Json& each : value) visitTexts(each, visit);
}

// A name identifies containers and variables, a path identifies mounts.
const char* keyOfElements(const Json& list) {
  for (const char* key : {"name", "mountPath"}) {
    const bool all =
        std::all_of(list.begin(), list.end(), [&](const Json& each) { return get(each, key).is_string(); });
    if (all && !list.empty()) return key;
  }
  return nullptr;
}

}  // namespace

void copy(const Json& from, const char* key, Json& to, const char* as) {
  if (Json value = get(from, key); !value.is_null()) to[as] = std::move(value);
}

Json listOf(const Json& value) { return value.is_array() ? value : Json::array(); }

std::string textOf(const Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

std::string valueText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? value.dump() : std::string();
}

std::int64_t countOf(const Json& count) {
  constexpr std::int64_t kMax = 1'000'000;
  if (!count.is_number_integer()) return 1;
  return std::clamp<std::int64_t>(
      count.is_number_unsigned() && count > kMax ? kMax : count.get<std::int64_t>(), 0, kMax);
}

bool isPlaceholder(const Json& value) {
  static const re2::RE2 kVariable(R"(\$(\w+|\{[^{}]+\}|\([^()]+\)))");
  return value.is_string() && re2::RE2::PartialMatch(value.get_ref<const std::string&>(), kVariable);
}

std::int64_t gpusOf(const Json& podTemplate) {
  const std::string gpu(model::names::kGpuResource);
  std::int64_t all = 0;
  for (const Json& container : listOf(get(podTemplate, "spec", "containers"))) {
    Json count = get(container, "resources", "limits", gpu.c_str());
    if (count.is_null()) count = get(container, "resources", "requests", gpu.c_str());
    const auto amount = base::Quantity::parse(valueText(count));
    constexpr std::int64_t kMilli = 1000;
    if (amount) all += amount->milli() / kMilli;
  }
  return all;
}

void forEachContainer(Json& podTemplate, const std::function<void(Json& container)>& visit) {
  if (!get(podTemplate, "spec").is_object()) return;
  for (const char* list : {"initContainers", "containers"}) {
    if (!get(podTemplate, "spec", list).is_array()) continue;
    for (Json& container : podTemplate["spec"][list]) {
      if (container.is_object()) visit(container);
    }
  }
}

void forEachText(Json& podTemplate, const std::function<void(std::string& text)>& visit) {
  forEachContainer(podTemplate, [&](Json& container) {
    for (const char* key :
         {"command", "args", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
      if (container.contains(key)) visitTexts(container[key], visit);
    }
    if (!get(container, "env").is_array()) return;
    for (Json& each : container["env"]) {
      if (get(each, "value").is_string()) visit(each["value"].get_ref<std::string&>());
    }
  });
}

std::optional<std::string> variableOf(const Json& podTemplate, const std::string& name) {
  for (const Json& container : listOf(get(podTemplate, "spec", "containers"))) {
    for (const Json& each : listOf(get(container, "env"))) {
      if (textOf(get(each, "name")) == name) return valueText(get(each, "value"));
    }
  }
  return std::nullopt;
}

void mergeInto(Json& target, const Json& patch) {
  if (target.is_object() && patch.is_object()) {
    for (const auto& [key, value] : patch.items()) {
      if (target.contains(key)) {
        mergeInto(target[key], value);
      } else {
        target[key] = value;
      }
    }
    return;
  }
  if (!target.is_array() || !patch.is_array()) {
    target = patch;
    return;
  }
  const char* key = keyOfElements(patch);
  for (const Json& each : patch) {
    const auto found =
        key == nullptr ? target.end() : std::find_if(target.begin(), target.end(), [&](const Json& other) {
          return get(other, key) == get(each, key);
        });
    if (found == target.end()) {
      target.push_back(each);
    } else {
      mergeInto(*found, each);
    }
  }
}

}  // namespace trainyard::cli
