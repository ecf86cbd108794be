#include "sim/api/schema.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/time.h"

namespace trainyard::sim {
namespace {

std::string join(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

bool flag(const Json& schema, std::string_view name) { return boolAt(schema, {name}); }

// The server manages the identity of an object, also of a whole object that is embedded.
bool isIdentity(const std::string& name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

void prune(const Json& schema, Json& value, bool embedded, const std::string& path,
           std::vector<std::string>& dropped) {
  if (value.is_array()) {
    const Json* items = find(schema, "items");
    if (items == nullptr) return;
    for (std::size_t i = 0; i < value.size(); ++i) {
      prune(*items, value[i], flag(*items, "x-kubernetes-embedded-resource"), fmt::format("{}[{}]", path, i),
            dropped);
    }
    return;
  }
  if (!value.is_object()) return;
  const bool preserve = flag(schema, "x-kubernetes-preserve-unknown-fields");
  const Json& properties = objectAt(schema, {"properties"});
  const Json* additional = find(schema, "additionalProperties");
  for (auto it = value.begin(); it != value.end();) {
    const Json* next = find(properties, it.key());
    if (next == nullptr && additional != nullptr && additional->is_object()) next = additional;
    const bool identity = embedded && isIdentity(it.key());
    const bool kept = identity || preserve ||
                      (additional != nullptr && additional->is_boolean() && additional->get<bool>());
    if (next == nullptr && !kept) {
      dropped.push_back(join(path, it.key()));
      it = value.erase(it);
      continue;
    }
    if (next != nullptr && !identity)
      prune(*next, it.value(), flag(*next, "x-kubernetes-embedded-resource"), join(path, it.key()), dropped);
    ++it;
  }
}

bool hasType(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "number") return value.is_number();
  if (type != "integer") return true;
  return value.is_number_integer() ||
         (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()));
}

std::string_view typeName(const Json& value) {
  if (value.is_number_float()) return "number";
  if (value.is_number()) return "integer";
  return value.type_name();
}

class Validator {
 public:
  explicit Validator(Causes& causes) : causes_(causes) {}

  void check(const Json& schema, const Json& value, const Json* old, const std::string& path) {
    if (old != nullptr && *old == value) return;
    if (!checkType(schema, value, path)) return;
    checkEnum(schema, value, path);
    if (value.is_string()) checkString(schema, value.get_ref<const std::string&>(), path);
    if (value.is_number()) checkNumber(schema, value, path);
    if (value.is_array()) checkArray(schema, value, old, path);
    if (value.is_object()) checkObject(schema, value, old, path);
    checkCombinations(schema, value, path);
    checkRules(schema, value, old, path);
  }

 private:
  bool checkType(const Json& schema, const Json& value, const std::string& path) {
    if (value.is_null()) {
      if (flag(schema, "nullable") || find(schema, "type") == nullptr) return false;
      causes_.typeInvalid(path, fmt::format("\"null\": {} in body must be of type {}: \"null\"", path,
                                            textAt(schema, {"type"})));
      return false;
    }
    if (flag(schema, "x-kubernetes-int-or-string")) {
      if (value.is_string() || value.is_number_integer()) return true;
      causes_.typeInvalid(
          path, fmt::format("\"{}\": {} in body must be of type integer,string", typeName(value), path));
      return false;
    }
    const std::string type = textAt(schema, {"type"});
    if (type.empty() || hasType(value, type)) return true;
    causes_.typeInvalid(
        path, fmt::format("\"{0}\": {1} in body must be of type {2}: \"{0}\"", typeName(value), path, type));
    return false;
  }

  void checkEnum(const Json& schema, const Json& value, const std::string& path) {
    const Json* allowed = find(schema, "enum");
    if (allowed == nullptr || std::find(allowed->begin(), allowed->end(), value) != allowed->end()) return;
    causes_.notSupported(path, value.is_string() ? value.get<std::string>() : value.dump());
  }

  void checkString(const Json& schema, const std::string& text, const std::string& path) {
    std::size_t length = 0;
    for (const char c : text) length += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
    if (const auto most = intAt(schema, {"maxLength"}); most && static_cast<std::int64_t>(length) > *most) {
      return causes_.tooLong(path, fmt::format("may not be more than {} bytes", *most));
    }
    if (const auto least = intAt(schema, {"minLength"});
        least && static_cast<std::int64_t>(length) < *least) {
      return causes_.invalid(
          path, fmt::format("\"{}\": {} in body should be at least {} chars long", text, path, *least));
    }
    const std::string pattern = textAt(schema, {"pattern"});
    if (!pattern.empty() && !RE2::PartialMatch(text, RE2(pattern, RE2::Quiet))) {
      causes_.invalid(path, fmt::format("\"{}\": {} in body should match '{}'", text, path, pattern));
    }
    const std::string format = textAt(schema, {"format"});
    if (format == "date-time" && !base::parseTime(text)) {
      causes_.typeInvalid(path,
                          fmt::format("\"{0}\": {1} in body must be of type date-time: \"{0}\"", text, path));
    }
  }

  void checkNumber(const Json& schema, const Json& value, const std::string& path) {
    const double number = value.get<double>();
    if (const Json* least = find(schema, "minimum"); least != nullptr && least->is_number()) {
      const bool exclusive = flag(schema, "exclusiveMinimum");
      if (number < least->get<double>() || (exclusive && number <= least->get<double>())) {
        causes_.invalid(path, fmt::format("{}: {} in body should be greater than or equal to {}",
                                          value.dump(), path, least->dump()));
      }
    }
    if (const Json* most = find(schema, "maximum"); most != nullptr && most->is_number()) {
      const bool exclusive = flag(schema, "exclusiveMaximum");
      if (number > most->get<double>() || (exclusive && number >= most->get<double>())) {
        causes_.invalid(path, fmt::format("{}: {} in body should be less than or equal to {}", value.dump(),
                                          path, most->dump()));
      }
    }
    if (const Json* step = find(schema, "multipleOf"); step != nullptr && step->is_number()) {
      if (std::fmod(number, step->get<double>()) != 0) {
        causes_.invalid(
            path, fmt::format("{}: {} in body should be a multiple of {}", value.dump(), path, step->dump()));
      }
    }
    const std::string format = textAt(schema, {"format"});
    if (format == "int32" && value.is_number_integer()) {
      const auto exact = value.get<std::int64_t>();
      if (exact > INT32_MAX || exact < INT32_MIN) {
        causes_.invalid(path, fmt::format("{}: {} in body must be of type int32", exact, path));
      }
    }
  }

  void checkArray(const Json& schema, const Json& value, const Json* old, const std::string& path) {
    const auto size = static_cast<std::int64_t>(value.size());
    if (const auto most = intAt(schema, {"maxItems"}); most && size > *most) {
      causes_.tooMany(path, fmt::format("{}: must have at most {} items", size, *most));
    }
    if (const auto least = intAt(schema, {"minItems"}); least && size < *least) {
      causes_.invalid(path, fmt::format("{}: {} in body should have at least {} items", size, path, *least));
    }
    const std::string listType = textAt(schema, {"x-kubernetes-list-type"});
    const Json& keys = listAt(schema, {"x-kubernetes-list-map-keys"});
    const Json* items = find(schema, "items");
    std::set<std::string> seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string itemPath = fmt::format("{}[{}]", path, i);
      if (items != nullptr) {
        const Json* before = listType == "map" && old != nullptr ? sameItem(*old, value[i], keys) : nullptr;
        check(*items, value[i], before, itemPath);
      }
      if (listType != "map" && listType != "set") continue;
      const std::string identity = listType == "set" ? value[i].dump() : mapKey(value[i], keys).dump();
      if (!seen.insert(identity).second) causes_.duplicate(itemPath, identity);
    }
  }

  static Json mapKey(const Json& item, const Json& keys) {
    Json key = Json::object();
    for (const auto& name : keys) {
      if (const Json* part = find(item, name.get<std::string>()); part != nullptr)
        key[name.get<std::string>()] = *part;
    }
    return key;
  }

  static const Json* sameItem(const Json& old, const Json& item, const Json& keys) {
    if (!old.is_array()) return nullptr;
    const Json wanted = mapKey(item, keys);
    for (const auto& candidate : old) {
      if (mapKey(candidate, keys) == wanted) return &candidate;
    }
    return nullptr;
  }

  void checkObject(const Json& schema, const Json& value, const Json* old, const std::string& path) {
    const auto size = static_cast<std::int64_t>(value.size());
    if (const auto most = intAt(schema, {"maxProperties"}); most && size > *most) {
      causes_.tooMany(path, fmt::format("{}: must have at most {} items", size, *most));
    }
    if (const auto least = intAt(schema, {"minProperties"}); least && size < *least) {
      causes_.invalid(path,
                      fmt::format("{}: {} in body should have at least {} properties", size, path, *least));
    }
    for (const auto& name : listAt(schema, {"required"})) {
      if (!value.contains(name.get<std::string>())) causes_.required(join(path, name.get<std::string>()));
    }
    const Json& properties = objectAt(schema, {"properties"});
    const Json* additional = find(schema, "additionalProperties");
    for (const auto& [name, member] : value.items()) {
      const Json* next = find(properties, name);
      if (next == nullptr && additional != nullptr && additional->is_object()) next = additional;
      if (next == nullptr) continue;
      check(*next, member, old != nullptr ? find(*old, name) : nullptr, join(path, name));
    }
  }

  bool fits(const Json& schema, const Json& value, const std::string& path) {
    Causes ignored;
    Validator(ignored).check(schema, value, nullptr, path);
    return ignored.empty();
  }

  void checkCombinations(const Json& schema, const Json& value, const std::string& path) {
    for (const auto& part : listAt(schema, {"allOf"})) check(part, value, nullptr, path);
    const auto matching = [&](const Json& parts) {
      return std::count_if(parts.begin(), parts.end(),
                           [&](const Json& part) { return fits(part, value, path); });
    };
    const Json& any = listAt(schema, {"anyOf"});
    if (!any.empty() && matching(any) == 0)
      causes_.invalid(path, "\"\": must validate at least one schema (anyOf)");
    const Json& one = listAt(schema, {"oneOf"});
    if (!one.empty() && matching(one) != 1)
      causes_.invalid(path, "\"\": must validate one and only one schema (oneOf)");
    const Json* forbidden = find(schema, "not");
    if (forbidden != nullptr && fits(*forbidden, value, path)) {
      causes_.invalid(path, "\"\": must not validate the schema (not)");
    }
  }

  void checkRules(const Json& schema, const Json& value, const Json* old, const std::string& path) {
    if (old == nullptr || *old == value) return;
    for (const auto& rule : listAt(schema, {"x-kubernetes-validations"})) {
      if (textAt(rule, {"rule"}) != "self == oldSelf") continue;
      const std::string where = path + textAt(rule, {"fieldPath"});
      if (textAt(rule, {"reason"}) == "FieldValueForbidden") {
        causes_.forbidden(where, textAt(rule, {"message"}));
      } else {
        causes_.invalid(where, fmt::format("{}: {}", value.dump(), textAt(rule, {"message"})));
      }
    }
  }

  Causes& causes_;
};

}  // namespace

void pruneUnknown(const Json& schema, Json& value, std::vector<std::string>& dropped) {
  prune(schema, value, true, "", dropped);
}

void applySchemaDefaults(const Json& schema, Json& value) {
  if (value.is_array()) {
    const Json* items = find(schema, "items");
    if (items == nullptr) return;
    for (auto& item : value) applySchemaDefaults(*items, item);
    return;
  }
  if (!value.is_object()) return;
  for (const auto& [name, property] : objectAt(schema, {"properties"}).items()) {
    const Json* initial = find(property, "default");
    auto held = value.find(name);
    if (held != value.end() && held->is_null() && initial == nullptr && !flag(property, "nullable")) {
      value.erase(held);
      held = value.end();
    }
    // If null is not allowed, an explicit null is replaced by the default or dropped.
    const bool nullRefused = held != value.end() && held->is_null() && !flag(property, "nullable");
    if (initial != nullptr && (held == value.end() || nullRefused)) value[name] = *initial;
    const auto now = value.find(name);
    if (now != value.end()) applySchemaDefaults(property, *now);
  }
  const Json* additional = find(schema, "additionalProperties");
  if (additional == nullptr || !additional->is_object()) return;
  const Json& properties = objectAt(schema, {"properties"});
  for (auto& [name, member] : value.items()) {
    if (!properties.contains(name)) applySchemaDefaults(*additional, member);
  }
}

void validateSchema(const Json& schema, const Json& value, const Json* old, Causes& causes) {
  Validator(causes).check(schema, value, old, "");
}

}  // namespace trainyard::sim
