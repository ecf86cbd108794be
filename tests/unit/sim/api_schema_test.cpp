#include <catch2/catch.hpp>

#include "sim/api/schema.h"

namespace trainyard::sim {
namespace {

const char* kSchema = R"({
  "type": "object",
  "properties": {
    "spec": {
      "type": "object", "required": ["color"],
      "properties": {
        "color": {"type": "string", "enum": ["red", "blue"]},
        "fixed": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "no"}]},
        "size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
        "nested": {"type": "object", "default": {}, "properties": {"depth": {"type": "integer", "default": 7}}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "parts": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                  "items": {"type": "object", "properties": {"name": {"type": "string"},
                                                            "count": {"type": "integer", "maximum": 5, "default": 1}}}},
        "labels": {"type": "object", "additionalProperties": {"type": "string", "pattern": "^[a-z]+$"}}
      }}}})";

const Json& schema() {
  static const Json kParsed = Json::parse(kSchema);
  return kParsed;
}

std::vector<std::string> complaints(const Json& value, const Json* old = nullptr) {
  Causes causes;
  validateSchema(schema(), value, old, causes);
  std::vector<std::string> result;
  for (const auto& cause : causes.list()) result.push_back(cause.reason + " " + cause.field);
  return result;
}

using Lines = std::vector<std::string>;

TEST_CASE("unknown fields are pruned except where the schema preserves them") {
  Json value = {
      {"apiVersion", "v"},
      {"spec",
       {{"color", "red"}, {"odd", 1}, {"free", {{"any", 1}}}, {"parts", {{{"name", "a"}, {"odd", 1}}}}}}};
  std::vector<std::string> dropped;
  pruneUnknown(schema(), value, dropped);
  CHECK(dropped == Lines{"spec.odd", "spec.parts[0].odd"});
  CHECK(value == Json({{"apiVersion", "v"},
                       {"spec", {{"color", "red"}, {"free", {{"any", 1}}}, {"parts", {{{"name", "a"}}}}}}}));
}

TEST_CASE("defaults reach into objects that are there or have a default themselves") {
  Json value = {{"spec", {{"color", nullptr}, {"size", nullptr}, {"parts", {{{"name", "a"}}}}}}};
  applySchemaDefaults(schema(), value);
  CHECK(value ==
        Json({{"spec",
               {{"size", 3}, {"nested", {{"depth", 7}}}, {"parts", {{{"name", "a"}, {"count", 1}}}}}}}));
}

TEST_CASE("every wrong member is named") {
  CHECK(complaints({{"spec", {{"color", "red"}}}}).empty());
  CHECK(complaints({{"spec", Json::object()}}) == Lines{"FieldValueRequired spec.color"});
  CHECK(complaints({{"spec", {{"color", "pink"}, {"size", 0}}}}) ==
        Lines{"FieldValueNotSupported spec.color", "FieldValueInvalid spec.size"});
  CHECK(complaints({{"spec", {{"color", "red"}, {"size", "3"}}}}) ==
        Lines{"FieldValueTypeInvalid spec.size"});
  CHECK(complaints({{"spec", {{"color", "red"}, {"labels", {{"x", "A"}}}}}}) ==
        Lines{"FieldValueInvalid spec.labels.x"});
  CHECK(complaints({{"spec", {{"color", "red"}, {"parts", {{{"name", "a"}}, {{"name", "a"}}}}}}}) ==
        Lines{"FieldValueDuplicate spec.parts[1]"});
}

TEST_CASE("an invalid value that did not change is accepted") {
  const Json old = {{"spec", {{"color", "pink"}, {"size", 50}, {"parts", {{{"name", "a"}, {"count", 9}}}}}}};
  Json changed = old;
  changed["spec"]["size"] = 5;
  changed["spec"]["parts"].insert(changed["spec"]["parts"].begin(), Json({{"name", "b"}, {"count", 8}}));
  CHECK(complaints(changed, &old) == Lines{"FieldValueInvalid spec.parts[0].count"});
}

TEST_CASE("a field with the rule self == oldSelf cannot change but can be removed") {
  const Json old = {{"spec", {{"color", "red"}, {"fixed", "a"}}}};
  CHECK(complaints({{"spec", {{"color", "red"}, {"fixed", "b"}}}}, &old) ==
        Lines{"FieldValueInvalid spec.fixed"});
  CHECK(complaints({{"spec", {{"color", "blue"}, {"fixed", "a"}}}}, &old).empty());
  CHECK(complaints({{"spec", {{"color", "red"}}}}, &old).empty());
}

}  // namespace
}  // namespace trainyard::sim
