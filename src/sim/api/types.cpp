#include "sim/api/types.h"

#include <cstdlib>

#include <fmt/format.h>

#include "base/time.h"

namespace trainyard::sim {
namespace {

using Kind = FieldType::Kind;

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + separator.size());
  }
  return parts;
}

std::string_view trim(std::string_view text) {
  const auto start = text.find_first_not_of(" \n");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \n") - start + 1);
}

class RoundTrip {
 public:
  explicit RoundTrip(std::vector<std::string>& unknown) : unknown_(unknown) {}

  Outcome<Json> structValue(const StructType& type, const Json& value, const std::string& path) {
    if (value.is_null()) return emptyStruct(type);
    if (!value.is_object()) return wrong(value, type.name, path);
    for (const auto& [name, member] : value.items()) {
      if (type.fields.count(name) == 0) unknown_.push_back(join(path, name));
    }
    Json result = Json::object();
    for (const auto& [name, field] : type.fields) {
      const Json* member = find(value, name);
      auto written = member != nullptr && !member->is_null() ? fieldValue(field, *member, join(path, name))
                                                             : Outcome<Json>(Json(nullptr));
      if (!written) return written;
      if (written->is_null() || (!field.pointer && isZero(field, *written))) {
        if (field.always || (field.kind == Kind::kStruct && !field.pointer)) {
          result[name] = written->is_null() ? zero(field) : *std::move(written);
        }
        continue;
      }
      result[name] = *std::move(written);
    }
    return result;
  }

 private:
  static std::string join(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }

  static tl::unexpected<Failure> wrong(const Json& value, const std::string& wanted,
                                       const std::string& path) {
    return failBadRequest(
        fmt::format("json: cannot unmarshal {} into field {} of type {}", value.type_name(), path, wanted));
  }

  Json emptyStruct(const StructType& type) {
    Json result = Json::object();
    for (const auto& [name, field] : type.fields) {
      if (field.always || (field.kind == Kind::kStruct && !field.pointer)) result[name] = zero(field);
    }
    return result;
  }

  Json zero(const FieldType& field) {
    if (field.pointer) return nullptr;
    switch (field.kind) {
      case Kind::kString: return "";
      case Kind::kInt: return 0;
      case Kind::kBool: return false;
      case Kind::kQuantity: return "0";
      case Kind::kIntOrString: return 0;
      case Kind::kStruct: return emptyStruct(*field.structType);
      default: return nullptr;
    }
  }

  static bool isZero(const FieldType& field, const Json& value) {
    switch (field.kind) {
      case Kind::kString:
      case Kind::kBytes: return value.is_string() && value.get_ref<const std::string&>().empty();
      case Kind::kInt: return value == 0;
      case Kind::kBool: return value == false;
      case Kind::kMap:
      case Kind::kList: return value.empty();
      case Kind::kIntOrString: return value == 0;
      default: return false;
    }
  }

  Outcome<Json> fieldValue(const FieldType& field, const Json& value, const std::string& path) {
    switch (field.kind) {
      case Kind::kString:
      case Kind::kBytes:
        if (!value.is_string()) return wrong(value, "string", path);
        return value;
      case Kind::kInt:
        if (!value.is_number_integer()) return wrong(value, "int", path);
        return value;
      case Kind::kBool:
        if (!value.is_boolean()) return wrong(value, "bool", path);
        return value;
      case Kind::kQuantity: return quantity(value, path);
      case Kind::kTime:
      case Kind::kMicroTime: return time(value, field.kind == Kind::kMicroTime, path);
      case Kind::kIntOrString:
        if (!value.is_string() && !value.is_number_integer()) return wrong(value, "IntOrString", path);
        return value;
      case Kind::kAny: return value;
      case Kind::kMap: return mapValue(field, value, path);
      case Kind::kList: return listValue(field, value, path);
      case Kind::kStruct: return structValue(*field.structType, value, path);
    }
    return value;
  }

  Outcome<Json> mapValue(const FieldType& field, const Json& value, const std::string& path) {
    if (!value.is_object()) return wrong(value, "map", path);
    Json result = Json::object();
    for (const auto& [key, item] : value.items()) {
      if (item.is_null()) {
        result[key] = zero(*field.element);
        continue;
      }
      auto written = fieldValue(*field.element, item, path + "[" + key + "]");
      if (!written) return written;
      result[key] = *std::move(written);
    }
    return result;
  }

  Outcome<Json> listValue(const FieldType& field, const Json& value, const std::string& path) {
    if (!value.is_array()) return wrong(value, "list", path);
    Json result = Json::array();
    for (std::size_t i = 0; i < value.size(); ++i) {
      auto written = value[i].is_null()
                         ? Outcome<Json>(zero(*field.element))
                         : fieldValue(*field.element, value[i], fmt::format("{}[{}]", path, i));
      if (!written) return written;
      result.push_back(*std::move(written));
    }
    return result;
  }

  static Outcome<Json> quantity(const Json& value, const std::string& path) {
    if (!value.is_string() && !value.is_number()) return wrong(value, "Quantity", path);
    const auto text = canonicalQuantity(value.is_string() ? value.get<std::string>() : value.dump());
    if (!text) return failBadRequest(path + ": " + text.error().message);
    return Json(*text);
  }

  static Outcome<Json> time(const Json& value, bool micro, const std::string& path) {
    if (!value.is_string()) return wrong(value, "Time", path);
    const auto parsed = base::parseTime(value.get<std::string>());
    if (!parsed) return failBadRequest(path + ": " + parsed.error().message);
    // RFC3339Micro is stricter than a general RFC 3339 reader: exactly six digits.
    const auto& text = value.get_ref<const std::string&>();
    const auto dot = text.find('.');
    if (micro && (dot == std::string::npos || text.find_first_not_of("0123456789", dot + 1) != dot + 7)) {
      return failBadRequest(
          fmt::format("parsing time {} as \"2006-01-02T15:04:05.000000Z07:00\"", value.dump()));
    }
    return Json(micro ? base::formatMicroTime(*parsed) : base::formatTime(*parsed));
  }

  std::vector<std::string>& unknown_;
};

}  // namespace

TypeTable::TypeTable(std::string_view text) {
  // A line that begins with a space continues the previous one.
  std::vector<std::pair<StructType*, std::string>> bodies;
  for (const auto line : split(text, "\n")) {
    if (line.empty()) continue;
    if (line.front() == ' ') {
      bodies.back().second += std::string(line);
      continue;
    }
    const auto colon = line.find(':');
    auto type = std::make_unique<StructType>();
    type->name = std::string(line.substr(0, colon));
    bodies.emplace_back(type.get(), std::string(line.substr(colon + 1)));
    structs_[type->name] = std::move(type);
  }
  for (auto& [type, body] : bodies) {
    for (const auto field : split(body, ";")) parseField(*type, trim(field));
  }
}

const StructType* TypeTable::at(const std::string& name) const {
  const auto found = structs_.find(name);
  return found == structs_.end() ? nullptr : found->second.get();
}

void TypeTable::parseField(StructType& owner, std::string_view text) {
  const auto space = text.find(' ');
  std::string_view type = trim(text.substr(space + 1));
  FieldType flags;
  while (!type.empty() && (type.back() == '!' || type.back() == '%')) {
    (type.back() == '!' ? flags.always : flags.retainKeys) = true;
    type.remove_suffix(1);
  }
  if (const auto at = type.find('@'); at != std::string_view::npos) {
    flags.mergeList = true;
    flags.mergeKey = std::string(type.substr(at + 1));
    type = type.substr(0, at);
  }
  FieldType field = parseType(type);
  field.always = flags.always;
  field.retainKeys = flags.retainKeys;
  field.mergeList = flags.mergeList;
  field.mergeKey = flags.mergeKey;
  owner.fields[std::string(text.substr(0, space))] = std::move(field);
}

FieldType TypeTable::parseType(std::string_view text) {
  static const std::map<std::string_view, Kind> kScalars = {
      {"s", Kind::kString},       {"i", Kind::kInt},    {"b", Kind::kBool},
      {"q", Kind::kQuantity},     {"t", Kind::kTime},   {"mt", Kind::kMicroTime},
      {"io", Kind::kIntOrString}, {"by", Kind::kBytes}, {"any", Kind::kAny}};
  FieldType field;
  if (text.front() == '*') {
    field = parseType(text.substr(1));
    field.pointer = true;
    return field;
  }
  if (text.substr(0, 2) == "[]" || text.substr(0, 2) == "{}") {
    field.kind = text.front() == '[' ? Kind::kList : Kind::kMap;
    field.element = std::make_shared<FieldType>(parseType(text.substr(2)));
    return field;
  }
  if (const auto scalar = kScalars.find(text); scalar != kScalars.end()) {
    field.kind = scalar->second;
    return field;
  }
  field.kind = Kind::kStruct;
  field.structType = at(std::string(text));
  if (field.structType == nullptr) {
    fmt::print(stderr, "built-in type table: no struct {}\n", text);
    std::abort();
  }
  return field;
}

Outcome<Json> roundTrip(const StructType& type, const Json& value, std::vector<std::string>& unknown) {
  return RoundTrip(unknown).structValue(type, value, "");
}

}  // namespace trainyard::sim
