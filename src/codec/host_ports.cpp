#include "codec/host_ports.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/framework_ports.h"
#include "model/one_per_node.h"

namespace trainyard::codec {
namespace {

JsonValue firstContainer(const JsonValue& podSpec) {
  JsonValue first;
  bool found = false;
  podSpec.find("containers").forEachElement([&](JsonValue container) {
    if (!std::exchange(found, true)) first = container;
  });
  return first;
}

bool setsVariable(const JsonValue& container, std::string_view name) {
  bool sets = false;
  if (name.empty()) return false;
  container.find("env").forEachElement(
      [&](JsonValue variable) { sets = sets || variable.find("name").string() == name; });
  return sets;
}

bool declares(const JsonValue& podSpec, int port) {
  bool declared = false;
  podSpec.find("containers").forEachElement([&](JsonValue container) {
    container.find("ports").forEachElement([&](JsonValue each) {
      const bool tcp = each.find("protocol").string().value_or("TCP") == "TCP";
      const std::int64_t number =
          each.find("hostPort").integer().value_or(each.find("containerPort").integer().value_or(0));
      declared = declared || (tcp && number == port);
    });
  });
  return declared;
}

// The index of a member that has no port which another member of the role lacks.
int typicalIndex(const model::JobSpec& spec, const model::Role& role) {
  const bool elastic = spec.elastic && spec.elastic->role == role.name;
  return (elastic ? spec.elastic->maxReplicas : role.replicas) > 1 ? 1 : 0;
}

}  // namespace

bool isOnHostNetwork(const JsonValue& podSpec) {
  return podSpec.find("hostNetwork").boolean().value_or(false);
}

std::vector<int> hostPortsToDeclare(const model::JobSpec& spec, const model::Role& role, int index,
                                    const JsonValue& podSpec) {
  std::vector<int> ports;
  if (!isOnHostNetwork(podSpec)) return ports;
  const JsonValue first = firstContainer(podSpec);
  for (const model::FrameworkPort& given : model::frameworkPorts(spec, role.name, index)) {
    const bool known = std::find(ports.begin(), ports.end(), given.port) != ports.end();
    if (!known && !setsVariable(first, given.variable) && !declares(podSpec, given.port))
      ports.push_back(given.port);
  }
  return ports;
}

void writePorts(JsonWriter& out, const JsonValue& container, const std::vector<int>& ports) {
  out.key("ports").beginArray();
  container.find("ports").forEachElement([&](JsonValue port) { out.raw(port.minified()); });
  for (const int port : ports) {
    out.beginObject().member("containerPort", port).member("hostPort", port).member("protocol", "TCP");
    out.endObject();
  }
  out.endArray();
}

void countFrameworkPorts(model::JobSpec& spec) {
  for (model::Role& role : spec.roles) {
    // Few templates use hostNetwork; parsing all of them again would be expensive.
    if (role.templateJson.find("\"hostNetwork\"") == std::string::npos) continue;
    const auto document = JsonDocument::parse(role.templateJson);
    if (!document) continue;
    const int index = typicalIndex(spec, role);
    for (const int port : hostPortsToDeclare(spec, role, index, document->root().find("spec")))
      role.shape.requests.setExtended(fmt::format("{}{}/TCP", model::kHostPortPrefix, port), 1);
  }
}

}  // namespace trainyard::codec
