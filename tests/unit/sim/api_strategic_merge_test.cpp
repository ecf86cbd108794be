#include <catch2/catch.hpp>

#include "sim/api/strategic_merge.h"

namespace trainyard::sim {
namespace {

const TypeTable& table() {
  static const TypeTable kTable(builtinTypeText());
  return kTable;
}

Json merge(const char* type, const Json& original, const Json& patch) {
  const auto merged = strategicMerge(*table().at(type), original, patch);
  REQUIRE(merged.has_value());
  return *merged;
}

Json names(const Json& list) {
  Json result = Json::array();
  for (const auto& item : list) result.push_back(item.at("name"));
  return result;
}

TEST_CASE("lists merge by their key and new items are first") {
  const Json pod = {
      {"spec", {{"containers", {{{"name", "a"}, {"image", "1"}}, {{"name", "b"}, {"image", "1"}}}}}}};
  const Json patch = {{"spec", {{"containers", {{{"name", "b"}, {"image", "2"}}, {{"name", "c"}}}}}}};
  const Json containers = merge("Pod", pod, patch)["spec"]["containers"];
  CHECK(names(containers) == Json({"a", "b", "c"}));
  CHECK(containers[1]["image"] == "2");
  const Json added = merge("Pod", pod, {{"spec", {{"containers", {{{"name", "c"}}}}}}})["spec"]["containers"];
  CHECK(names(added) == Json({"c", "a", "b"}));
}

TEST_CASE("a gate is removed by its name and all others stay") {
  const Json pod = {{"spec", {{"schedulingGates", {{{"name", "x/a"}}, {{"name", "x/b"}}}}}}};
  const Json patch = {{"spec", {{"schedulingGates", {{{"$patch", "delete"}, {"name", "x/a"}}}}}}};
  CHECK(names(merge("Pod", pod, patch)["spec"]["schedulingGates"]) == Json({"x/b"}));
}

TEST_CASE("node selector terms are atomic") {
  const auto terms = [](const char* key) {
    const Json term = {{"matchExpressions", {{{"key", key}, {"operator", "Exists"}}}}};
    return Json{
        {"spec",
         {{"affinity",
           {{"nodeAffinity",
             {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", {term}}}}}}}}}}};
  };
  CHECK(merge("Pod", terms("a"), terms("b")) == terms("b"));
}

TEST_CASE("$patch replaces and deletes maps and lists") {
  const Json service = {
      {"spec", {{"selector", {{"a", "1"}, {"b", "2"}}}, {"ports", {{{"port", 1}}, {{"port", 2}}}}}}};
  const Json replaced =
      merge("Service", service, {{"spec", {{"selector", {{"$patch", "replace"}, {"c", "3"}}}}}});
  CHECK(replaced["spec"]["selector"] == Json({{"c", "3"}}));
  const Json emptied = merge("Service", service, {{"spec", {{"selector", {{"$patch", "delete"}}}}}});
  CHECK(emptied["spec"]["selector"] == Json::object());
  const Json ports =
      merge("Service", service, {{"spec", {{"ports", {{{"$patch", "replace"}}, {{"port", 3}}}}}}});
  CHECK(ports["spec"]["ports"] == Json::array({Json({{"port", 3}})}));
}

TEST_CASE("sets of scalars are united and items deleted by name") {
  const Json map = {{"metadata", {{"finalizers", {"x/a", "x/b"}}}}};
  CHECK(merge("ConfigMap", map, {{"metadata", {{"finalizers", {"x/b", "x/c"}}}}})["metadata"]["finalizers"]
            .size() == 3);
  const Json gone =
      merge("ConfigMap", map, {{"metadata", {{"$deleteFromPrimitiveList/finalizers", {"x/a"}}}}});
  CHECK(gone["metadata"]["finalizers"] == Json({"x/b"}));
  const Json ordered =
      merge("ConfigMap", map, {{"metadata", {{"$setElementOrder/finalizers", {"x/b", "x/a"}}}}});
  CHECK(ordered == map);
}

TEST_CASE("a replaced volume has only the fields of $retainKeys") {
  const Json pod = {{"spec", {{"volumes", {{{"name", "v"}, {"emptyDir", Json::object()}}}}}}};
  const Json item = {{"name", "v"}, {"configMap", {{"name", "c"}}}, {"$retainKeys", {"name", "configMap"}}};
  const Json merged = merge("Pod", pod, {{"spec", {{"volumes", {item}}}}});
  CHECK(merged["spec"]["volumes"][0] == Json({{"name", "v"}, {"configMap", {{"name", "c"}}}}));
}

TEST_CASE("null removes and directives without a meaning are refused") {
  const Json map = {{"data", {{"a", "1"}}}};
  CHECK(merge("ConfigMap", map, {{"data", {{"a", nullptr}}}})["data"] == Json::object());
  CHECK_FALSE(strategicMerge(*table().at("ConfigMap"), map, {{"data", {{"$patch", "explode"}}}}).has_value());
  const Json keyless = {{"spec", {{"containers", {{{"image", "x"}}}}}}};
  const Json pod = {{"spec", {{"containers", {{{"name", "a"}}}}}}};
  CHECK_FALSE(strategicMerge(*table().at("Pod"), pod, keyless).has_value());
}

}  // namespace
}  // namespace trainyard::sim
