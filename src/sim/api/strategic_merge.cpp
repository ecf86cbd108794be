#include "sim/api/strategic_merge.h"

#include <algorithm>

#include <fmt/format.h>

namespace trainyard::sim {
namespace {

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeletePrefix = "$deleteFromPrimitiveList/";
constexpr std::string_view kOrderPrefix = "$setElementOrder/";

// As the real server, returns 500 without a reason for patches with invalid directives.
tl::unexpected<Failure> failPatch(std::string message) {
  return tl::unexpected<Failure>(Failure{500, "", std::move(message), nullptr});
}

bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Removes the directives of a patch value that has nothing to merge with. Returns false if nothing is left.
bool stripDirectives(Json& value) {
  if (value.is_object()) {
    if (value.contains(kDirective)) return false;
    for (auto it = value.begin(); it != value.end();) {
      const bool keep = !it.value().is_null() && stripDirectives(it.value());
      it = keep ? std::next(it) : value.erase(it);
    }
  } else if (value.is_array()) {
    for (auto it = value.begin(); it != value.end();)
      it = stripDirectives(*it) ? std::next(it) : value.erase(it);
  }
  return true;
}

const FieldType* fieldOf(const StructType* type, const std::string& name) {
  if (type == nullptr) return nullptr;
  const auto found = type->fields.find(name);
  return found == type->fields.end() ? nullptr : &found->second;
}

const StructType* structOf(const FieldType* field) {
  if (field == nullptr) return nullptr;
  if (field->kind == FieldType::Kind::kList || field->kind == FieldType::Kind::kMap) {
    return structOf(field->element.get());
  }
  return field->structType;
}

Outcome<Json> mergeMap(const StructType* type, Json original, const Json& patch);

const Json* findByKey(const Json& list, const std::string& key, const Json& value) {
  for (const auto& item : list) {
    const Json* held = find(item, key);
    if (held != nullptr && *held == value) return &item;
  }
  return nullptr;
}

// Returns the position of `item` in `order`, by merge key or by value; -1 if absent.
std::ptrdiff_t position(const Json& order, const Json& item, const std::string& key) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = key.empty() ? order[i] == item : sameAt(order[i], item, {key});
    if (same) return static_cast<std::ptrdiff_t>(i);
  }
  return -1;
}

// New items precede items that only the server has, unless the server's own order differs. The real server
// has the same unexpected order, and clients see it.
Json orderMerged(const Json& merged, const Json& patchOrder, const Json& serverOrder,
                 const std::string& key) {
  std::vector<Json> fromPatch;
  std::vector<Json> serverOnly;
  for (const auto& item : merged) {
    (position(patchOrder, item, key) >= 0 ? fromPatch : serverOnly).push_back(item);
  }
  const auto by = [&key](const Json& order) {
    return [&order, &key](const Json& a, const Json& b) {
      return position(order, a, key) < position(order, b, key);
    };
  };
  std::stable_sort(fromPatch.begin(), fromPatch.end(), by(patchOrder));
  std::stable_sort(serverOnly.begin(), serverOnly.end(), by(serverOrder));
  Json result = Json::array();
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < serverOnly.size() || j < fromPatch.size()) {
    bool takeServer = j >= fromPatch.size();
    if (!takeServer && i < serverOnly.size()) {
      const auto left = position(serverOrder, serverOnly[i], key);
      const auto right = position(serverOrder, fromPatch[j], key);
      takeServer = left >= 0 && right >= 0 && left < right;
    }
    result.push_back(takeServer ? serverOnly[i++] : fromPatch[j++]);
  }
  return result;
}

Json mergeScalars(const Json& original, const Json& patch) {
  Json merged = Json::array();
  for (const Json* list : {&original, &patch}) {
    for (const auto& item : *list) {
      if (std::find(merged.begin(), merged.end(), item) == merged.end()) merged.push_back(item);
    }
  }
  return orderMerged(merged, patch, original, "");
}

Outcome<Json> mergeObjects(const FieldType& field, Json original, const Json& patch) {
  const std::string& key = field.mergeKey;
  Json plain = Json::array();
  bool replace = false;
  for (const auto& item : patch) {
    const Json* directive = find(item, kDirective);
    if (directive == nullptr) {
      plain.push_back(item);
    } else if (*directive == "replace") {
      replace = true;
    } else if (*directive == "delete") {
      const Json* value = find(item, key);
      if (value == nullptr)
        return failPatch(fmt::format("map: {} does not contain declared merge key: {}", item.dump(), key));
      for (auto it = original.begin(); it != original.end();) {
        it = sameAt(*it, item, {key}) ? original.erase(it) : std::next(it);
      }
    } else {
      return failPatch(fmt::format("unknown patch type: {} in map: {}", directive->dump(), item.dump()));
    }
  }
  if (replace) return plain;
  Json merged = original;
  for (const auto& item : plain) {
    const Json* value = find(item, key);
    if (value == nullptr)
      return failPatch(fmt::format("map: {} does not contain declared merge key: {}", item.dump(), key));
    const Json* held = findByKey(merged, key, *value);
    if (held == nullptr) {
      Json added = item;
      if (stripDirectives(added)) merged.push_back(std::move(added));
      continue;
    }
    const auto index = static_cast<std::size_t>(held - &merged[0]);
    auto combined = mergeMap(structOf(&field), *held, item);
    if (!combined) return combined;
    merged[index] = *std::move(combined);
  }
  return orderMerged(merged, plain, original, key);
}

Outcome<Json> mergeList(const FieldType* field, const Json& original, const Json& patch) {
  if (field == nullptr || !field->mergeList) return patch;
  const Json& sample = original.empty() ? patch : original;
  if (sample.empty()) return original;
  if (!sample.front().is_object()) return mergeScalars(original, patch);
  if (field->mergeKey.empty()) return patch;
  return mergeObjects(*field, original, patch);
}

Outcome<void> retainKeys(Json& original, const Json& patch) {
  const Json* keys = find(patch, kRetainKeys);
  if (keys == nullptr) return {};
  if (!keys->is_array()) return failBadRequest("invalid patch format of retainKeys");
  for (const auto& [name, value] : patch.items()) {
    if (name == kRetainKeys || value.is_null()) continue;
    if (std::find(keys->begin(), keys->end(), Json(name)) == keys->end()) {
      return tl::unexpected<Failure>(
          Failure{422, "Invalid", "retainKeys must contain every key of the patch", Json::object()});
    }
  }
  for (auto it = original.begin(); it != original.end();) {
    const bool keep = std::find(keys->begin(), keys->end(), Json(it.key())) != keys->end();
    it = keep ? std::next(it) : original.erase(it);
  }
  return {};
}

void deleteFromPrimitives(Json& original, const std::string& name, const Json& gone) {
  const auto held = original.find(name);
  if (held == original.end() || !held->is_array() || !gone.is_array()) return;
  for (auto it = held->begin(); it != held->end();) {
    it = std::find(gone.begin(), gone.end(), *it) != gone.end() ? held->erase(it) : std::next(it);
  }
}

Outcome<Json> mergeMap(const StructType* type, Json original, const Json& patch) {
  if (const Json* directive = find(patch, kDirective); directive != nullptr) {
    if (*directive == "delete") return Json::object();
    if (*directive != "replace") return failPatch(fmt::format("unknown patch type: {}", directive->dump()));
    Json replaced = patch;
    replaced.erase(std::string(kDirective));
    return replaced;
  }
  if (original.is_null()) original = Json::object();
  if (auto kept = retainKeys(original, patch); !kept) return tl::unexpected<Failure>(kept.error());
  for (const auto& [name, value] : patch.items()) {
    if (name == kRetainKeys || startsWith(name, kOrderPrefix)) continue;
    if (startsWith(name, kDeletePrefix)) {
      deleteFromPrimitives(original, name.substr(kDeletePrefix.size()), value);
      continue;
    }
    if (value.is_null()) {
      original.erase(name);
      continue;
    }
    const auto held = original.find(name);
    const FieldType* field = fieldOf(type, name);
    if (held != original.end() && held->is_object() && value.is_object()) {
      auto merged = mergeMap(structOf(field), *held, value);
      if (!merged) return merged;
      *held = *std::move(merged);
    } else if (held != original.end() && held->is_array() && value.is_array()) {
      auto merged = mergeList(field, *held, value);
      if (!merged) return merged;
      *held = *std::move(merged);
    } else {
      Json taken = value;
      original.erase(name);
      if (stripDirectives(taken)) original[name] = std::move(taken);
    }
  }
  return original;
}

}  // namespace

Outcome<Json> strategicMerge(const StructType& type, const Json& original, const Json& patch) {
  return mergeMap(&type, original, patch);
}

}  // namespace trainyard::sim
