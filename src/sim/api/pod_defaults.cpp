#include "sim/api/pods.h"

namespace trainyard::sim {
namespace {

void setDefault(Json& object, const char* name, const Json& value) {
  if (!object.contains(name)) object[name] = value;
}

void probeDefaults(Json& probe) {
  setDefault(probe, "timeoutSeconds", 1);
  setDefault(probe, "periodSeconds", 10);
  setDefault(probe, "successThreshold", 1);
  setDefault(probe, "failureThreshold", 3);
}

void handlerDefaults(Json& handler) {
  const auto http = handler.find("httpGet");
  if (http == handler.end()) return;
  setDefault(*http, "path", "/");
  setDefault(*http, "scheme", "HTTP");
}

void fieldRefDefaults(Json& holder) {
  const auto reference = holder.find("fieldRef");
  if (reference != holder.end()) setDefault(*reference, "apiVersion", "v1");
}

// "image" and "image:latest" may change under their name, so they are always pulled.
bool pullsAlways(const std::string& image) {
  if (image.find('@') != std::string::npos) return false;
  const auto colon = image.rfind(':');
  if (colon == std::string::npos || image.find('/', colon) != std::string::npos) return true;
  return image.substr(colon + 1) == "latest";
}

void containerDefaults(Json& container) {
  setDefault(container, "terminationMessagePath", "/dev/termination-log");
  setDefault(container, "terminationMessagePolicy", "File");
  setDefault(container, "imagePullPolicy",
             pullsAlways(textAt(container, {"image"})) ? "Always" : "IfNotPresent");
  if (const auto ports = container.find("ports"); ports != container.end()) {
    for (auto& port : *ports) setDefault(port, "protocol", "TCP");
  }
  if (const auto env = container.find("env"); env != container.end()) {
    for (auto& variable : *env) {
      if (variable.contains("valueFrom")) fieldRefDefaults(variable["valueFrom"]);
    }
  }
  for (const char* name : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const auto probe = container.find(name);
    if (probe == container.end()) continue;
    probeDefaults(*probe);
    handlerDefaults(*probe);
  }
  if (const auto lifecycle = container.find("lifecycle"); lifecycle != container.end()) {
    for (auto& [name, hook] : lifecycle->items()) {
      if (hook.is_object()) handlerDefaults(hook);
    }
  }
  // A resource with a limit only is requested at its limit.
  Json& resources = container["resources"];
  if (resources.is_null()) resources = Json::object();
  const Json limits = objectAt(resources, {"limits"});
  for (const auto& [name, amount] : limits.items()) {
    if (findPath(resources, {"requests", name}) == nullptr) resources["requests"][name] = amount;
  }
}

void itemsDefaults(Json& source) {
  const auto items = source.find("items");
  if (items == source.end() || !items->is_array()) return;
  for (auto& item : *items) fieldRefDefaults(item);
}

void volumeDefaults(Json& volume) {
  if (volume.size() <= 1) volume["emptyDir"] = Json::object();
  for (const char* name : {"secret", "configMap", "downwardAPI", "projected"}) {
    const auto source = volume.find(name);
    if (source == volume.end()) continue;
    setDefault(*source, "defaultMode", 0644);
    itemsDefaults(*source);
  }
  if (const auto path = volume.find("hostPath"); path != volume.end()) setDefault(*path, "type", "");
  const auto projected = volume.find("projected");
  if (projected == volume.end() || !projected->value("sources", Json()).is_array()) return;
  for (auto& source : (*projected)["sources"]) {
    if (source.contains("serviceAccountToken"))
      setDefault(source["serviceAccountToken"], "expirationSeconds", 3600);
    if (source.contains("downwardAPI")) itemsDefaults(source["downwardAPI"]);
  }
}

}  // namespace

void podDefaults(Json& pod) {
  Json& spec = pod["spec"];
  if (spec.is_null()) spec = Json::object();
  setDefault(spec, "dnsPolicy", "ClusterFirst");
  setDefault(spec, "restartPolicy", "Always");
  setDefault(spec, "terminationGracePeriodSeconds", 30);
  if (spec["terminationGracePeriodSeconds"] < 0) spec["terminationGracePeriodSeconds"] = 1;
  setDefault(spec, "schedulerName", "default-scheduler");
  setDefault(spec, "enableServiceLinks", true);
  setDefault(spec, "securityContext", Json::object());
  // The deprecated field is kept equal to the new one.
  if (!spec.contains("serviceAccountName") && spec.contains("serviceAccount")) {
    spec["serviceAccountName"] = spec["serviceAccount"];
  }
  if (spec.contains("serviceAccountName")) {
    const Json account = spec["serviceAccountName"];
    spec["serviceAccount"] = account;
  }
  for (const char* name : {"containers", "initContainers"}) {
    const auto list = spec.find(name);
    if (list == spec.end() || !list->is_array()) continue;
    for (auto& container : *list) containerDefaults(container);
  }
  if (const auto volumes = spec.find("volumes"); volumes != spec.end()) {
    for (auto& volume : *volumes) volumeDefaults(volume);
  }
  if (const auto spread = spec.find("topologySpreadConstraints"); spread != spec.end()) {
    for (auto& constraint : *spread) {
      if (textAt(constraint, {"whenUnsatisfiable"}).empty())
        constraint["whenUnsatisfiable"] = "DoNotSchedule";
    }
  }
}

}  // namespace trainyard::sim
