#include <set>

#include <fmt/format.h>

#include "sim/api/names.h"
#include "sim/api/registry.h"

namespace trainyard::sim {
namespace {

void setDefault(Json& object, const char* name, const Json& value) {
  if (!object.contains(name)) object[name] = value;
}

bool hasClusterIp(const Json& service) { return textAt(service, {"spec", "type"}) != "ExternalName"; }

class ServiceStrategy final : public Strategy {
 public:
  ServiceStrategy() {
    createOnUpdate = true;
    returnsDeleted = true;
  }

  void defaults(Json& service) const override {
    Json& spec = service["spec"];
    if (spec.is_null()) spec = Json::object();
    setDefault(spec, "type", "ClusterIP");
    setDefault(spec, "sessionAffinity", "None");
    if (hasClusterIp(service)) setDefault(spec, "internalTrafficPolicy", "Cluster");
    if (const auto ports = spec.find("ports"); ports != spec.end() && ports->is_array()) {
      for (auto& port : *ports) {
        setDefault(port, "protocol", "TCP");
        if (!port.contains("targetPort") || port["targetPort"] == 0 || port["targetPort"] == "") {
          const Json number = port["port"];
          port["targetPort"] = number;
        }
      }
    }
  }

  Outcome<void> admit(const AdmissionView& view, Json& service, const Json* old) const override {
    Json& spec = service["spec"];
    if (old != nullptr) {
      // A client that omits the address keeps the one assigned at creation.
      for (const char* field : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
        if (!spec.contains(field)) copyMember(spec, old->at("spec"), field);
      }
      return {};
    }
    if (!hasClusterIp(service)) return {};
    if (textAt(spec, {"clusterIP"}).empty()) spec["clusterIP"] = freeAddress(view);
    const Json address = spec["clusterIP"];
    spec["clusterIPs"] = Json::array({address});
    setDefault(spec, "ipFamilies", {"IPv4"});
    setDefault(spec, "ipFamilyPolicy", "SingleStack");
    return {};
  }

  void prepareCreate(Json& service, base::WallTime) const override {
    service["status"] = {{"loadBalancer", Json::object()}};
  }

  void validate(const Json& service, Causes& causes) const override {
    const Json& spec = objectAt(service, {"spec"});
    const std::string type = textAt(spec, {"type"});
    const std::string address = textAt(spec, {"clusterIP"});
    const Json& ports = listAt(spec, {"ports"});
    if (ports.empty() && address != "None" && hasClusterIp(service)) causes.required("spec.ports");
    if (type != "ClusterIP" && type != "NodePort" && type != "LoadBalancer" && type != "ExternalName") {
      causes.notSupported("spec.type", type);
    }
    if (address == "None" && (type == "NodePort" || type == "LoadBalancer")) {
      causes.invalid("spec.clusterIPs[0]",
                     fmt::format("\"None\": may not be set to 'None' for {} services", type));
    }
    validatePorts(ports, causes);
    for (const auto& [key, value] : objectAt(spec, {"selector"}).items()) {
      if (!isQualifiedName(key)) causes.invalid("spec.selector", fmt::format("\"{}\"", key));
      if (value.is_string() && !isLabelValue(value.get<std::string>()))
        causes.invalid("spec.selector", value.dump());
    }
    const std::string affinity = textAt(spec, {"sessionAffinity"});
    if (affinity != "None" && affinity != "ClientIP") causes.notSupported("spec.sessionAffinity", affinity);
  }

  void validateUpdate(const Json& old, const Json& service, Part part, Causes& causes) const override {
    if (part == Part::kStatus) return;
    if (hasClusterIp(old) && hasClusterIp(service) && !sameAt(old, service, {"spec", "clusterIP"})) {
      causes.invalid("spec.clusterIPs[0]", "may not change once set");
    }
    validate(service, causes);
  }

  bool validName(const std::string& name) const override { return isDnsLabel(name); }

 private:
  static std::string freeAddress(const AdmissionView& view) {
    std::set<std::string> taken;
    for (const Json* service : view.list("services", ""))
      taken.insert(textAt(*service, {"spec", "clusterIP"}));
    for (int i = 2;; ++i) {
      const std::string address = fmt::format("10.96.{}.{}", i / 256, i % 256);
      if (taken.count(address) == 0) return address;
    }
  }

  static void validatePorts(const Json& ports, Causes& causes) {
    std::set<std::string> names;
    std::set<std::string> numbers;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const std::string path = fmt::format("spec.ports[{}]", i);
      const std::string name = textAt(ports[i], {"name"});
      if (name.empty() && ports.size() > 1) causes.required(path + ".name");
      if (!name.empty() && !isDnsLabel(name)) causes.invalid(path + ".name", fmt::format("\"{}\"", name));
      if (!name.empty() && !names.insert(name).second) causes.duplicate(path + ".name", name);
      const auto port = intAt(ports[i], {"port"}).value_or(0);
      if (port < 1 || port > 65535)
        causes.invalid(path + ".port", fmt::format("{}: must be between 1 and 65535, inclusive", port));
      if (const auto target = intAt(ports[i], {"targetPort"}); target && (*target < 1 || *target > 65535)) {
        causes.invalid(path + ".targetPort",
                       fmt::format("{}: must be between 1 and 65535, inclusive", *target));
      }
      const std::string protocol = textAt(ports[i], {"protocol"});
      if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP")
        causes.notSupported(path + ".protocol", protocol);
      const std::string number = fmt::format("{}/{}", protocol, port);
      if (!numbers.insert(number).second) causes.duplicate(path, number);
    }
  }
};

}  // namespace

std::unique_ptr<Strategy> makeServiceStrategy() { return std::make_unique<ServiceStrategy>(); }

}  // namespace trainyard::sim
