#include "codec/container_env.h"

#include <set>

namespace trainyard::codec {
namespace {

std::set<std::string_view> namesOf(const JsonValue& container) {
  std::set<std::string_view> names;
  container.find("env").forEachElement(
      [&](JsonValue entry) { names.insert(entry.find("name").string().value_or("")); });
  return names;
}

}  // namespace

void writeContainerEnv(JsonWriter& out, const JsonValue& container, const model::Environment& environment,
                       std::string_view filesName) {
  const std::set<std::string_view> own = namesOf(container);
  out.beginArray();
  for (const model::Variable& each : environment) {
    if (own.contains(each.name)) continue;
    out.beginObject().member("name", each.name);
    if (each.fileKey.empty()) {
      out.member("value", each.value);
    } else {
      out.key("valueFrom").beginObject().key("configMapKeyRef").beginObject();
      out.member("name", filesName).member("key", each.fileKey).endObject().endObject();
    }
    out.endObject();
  }
  container.find("env").forEachElement([&](JsonValue entry) { out.raw(entry.minified()); });
  out.endArray();
}

std::vector<std::string> findOwnVariables(const model::Role& role, const model::Environment& environment) {
  const auto document = JsonDocument::parse(role.templateJson);
  if (!document) return {};
  const JsonValue spec = document->root().find("spec");
  std::set<std::string> found;
  for (const std::string_view list : {"containers", "initContainers"}) {
    spec.find(list).forEachElement([&](JsonValue container) {
      const std::set<std::string_view> own = namesOf(container);
      for (const model::Variable& each : environment) {
        if (own.contains(each.name)) found.insert(each.name);
      }
    });
  }
  return {found.begin(), found.end()};
}

}  // namespace trainyard::codec
