#include "sim/api/registry.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/api/names.h"

namespace trainyard::sim {

void Strategy::prepareUpdate(const Json& old, Json& object, Part part) const {
  if (part == Part::kStatus) {
    copyMember(object, old, "spec");
  } else if (old.contains("status")) {
    copyMember(object, old, "status");
  }
}

bool Strategy::validName(const std::string& name) const { return isDnsSubdomain(name); }

bool ResourceType::hasScale() const { return findPath(definition, {"subresources", "scale"}) != nullptr; }

const Json& ResourceType::schema() const { return objectAt(definition, {"schema", "openAPIV3Schema"}); }

Registry::Registry() : table_(builtinTypeText()) {
  const auto core = [this](const char* plural, const char* kind, bool namespaced) -> ResourceType& {
    return add({"", plural, kind}, "v1", kind, namespaced);
  };
  auto& pods = core("pods", "Pod", true);
  pods.strategy = makePodStrategy();
  pods.hasStatus = true;
  pods.shortNames = {"po"};
  pods.fields = {"spec.nodeName",    "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
                 "spec.hostNetwork", "status.phase",       "status.podIP",       "status.nominatedNodeName"};
  auto& services = core("services", "Service", true);
  services.strategy = makeServiceStrategy();
  services.hasStatus = true;
  services.shortNames = {"svc"};
  services.fields = {"spec.clusterIP", "spec.type"};
  auto& configMaps = core("configmaps", "ConfigMap", true);
  configMaps.strategy = makeConfigMapStrategy();
  configMaps.shortNames = {"cm"};
  auto& nodes = core("nodes", "Node", false);
  nodes.strategy = makeNodeStrategy();
  nodes.hasStatus = true;
  nodes.shortNames = {"no"};
  nodes.fields = {"spec.unschedulable"};
  auto& namespaces = core("namespaces", "Namespace", false);
  namespaces.strategy = makeNamespaceStrategy();
  namespaces.hasStatus = true;
  namespaces.shortNames = {"ns"};
  namespaces.fields = {"status.phase"};
  core("serviceaccounts", "ServiceAccount", true).strategy = makeServiceAccountStrategy();
  core("limitranges", "LimitRange", true).strategy = makeLimitRangeStrategy();
  auto& quotas = core("resourcequotas", "ResourceQuota", true);
  quotas.strategy = makeQuotaStrategy();
  quotas.hasStatus = true;
  const std::vector<std::string> eventFields = {"reason", "type"};
  auto& events = core("events", "Event", true);
  events.strategy = makeEventStrategy(true);
  events.fields = {"involvedObject.kind",
                   "involvedObject.namespace",
                   "involvedObject.name",
                   "involvedObject.uid",
                   "involvedObject.apiVersion",
                   "reason",
                   "reportingComponent",
                   "source",
                   "type"};
  auto& newEvents = add({"events.k8s.io", "events", "Event"}, "v1", "EventsEvent", true);
  newEvents.strategy = makeEventStrategy(false);
  newEvents.checkedName.group.clear();
  newEvents.table = "events";
  newEvents.fields = {"regarding.kind",
                      "regarding.namespace",
                      "regarding.name",
                      "regarding.uid",
                      "reason",
                      "reportingController",
                      "type"};
  newEvents.toStored = eventToCore;
  newEvents.fromStored = eventFromCore;
  // Only the fields that decide where pods may run; no controller binds claims, tests write their status.
  auto& claims = core("persistentvolumeclaims", "PersistentVolumeClaim", true);
  claims.strategy = std::make_unique<Strategy>();
  claims.hasStatus = true;
  claims.shortNames = {"pvc"};
  auto& volumes = core("persistentvolumes", "PersistentVolume", false);
  volumes.strategy = std::make_unique<Strategy>();
  volumes.hasStatus = true;
  volumes.shortNames = {"pv"};
  add({"storage.k8s.io", "storageclasses", "StorageClass"}, "v1", "StorageClass", false).strategy =
      std::make_unique<Strategy>();
  add({"storage.k8s.io", "csidrivers", "CSIDriver"}, "v1", "CSIDriver", false).strategy =
      std::make_unique<Strategy>();
  add({"storage.k8s.io", "csinodes", "CSINode"}, "v1", "CSINode", false).strategy =
      std::make_unique<Strategy>();
  // What their specs hold is kept as it is: src/sim/workloads reads it.
  auto& jobs = add({"batch", "jobs", "Job"}, "v1", "Job", true);
  jobs.strategy = makeJobStrategy();
  jobs.hasStatus = true;
  auto& replicaSets = add({"apps", "replicasets", "ReplicaSet"}, "v1", "ReplicaSet", true);
  replicaSets.strategy = std::make_unique<Strategy>();
  replicaSets.hasStatus = true;
  replicaSets.shortNames = {"rs"};
  core("podtemplates", "PodTemplate", true).strategy = std::make_unique<Strategy>();
  // No controller counts disruptions.
  auto& budgets =
      add({"policy", "poddisruptionbudgets", "PodDisruptionBudget"}, "v1", "PodDisruptionBudget", true);
  budgets.strategy = std::make_unique<Strategy>();
  budgets.hasStatus = true;
  budgets.shortNames = {"pdb"};
  add({"coordination.k8s.io", "leases", "Lease"}, "v1", "Lease", true).strategy = makeLeaseStrategy();
  auto& classes =
      add({"scheduling.k8s.io", "priorityclasses", "PriorityClass"}, "v1", "PriorityClass", false);
  classes.strategy = makePriorityClassStrategy();
  classes.shortNames = {"pc"};
}

ResourceType& Registry::add(ResourceName name, std::string version, const std::string& structName,
                            bool namespaced) {
  auto type = std::make_unique<ResourceType>();
  type->name = std::move(name);
  type->version = std::move(version);
  type->singular = type->name.kind;
  for (auto& c : type->singular) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  type->checkedName = type->name;
  type->namespaced = namespaced;
  type->table = type->name.plural;
  type->type = structName.empty() ? nullptr : table_.at(structName);
  types_.push_back(std::move(type));
  return *types_.back();
}

base::Result<void> Registry::addCustom(const Json& definition) {
  const std::string group = textAt(definition, {"spec", "group"});
  const std::string plural = textAt(definition, {"spec", "names", "plural"});
  const std::string kind = textAt(definition, {"spec", "names", "kind"});
  const Json& versions = listAt(definition, {"spec", "versions"});
  if (group.empty() || plural.empty() || kind.empty() || versions.empty()) {
    return base::fail(base::ErrorCode::kInvalid,
                      "CustomResourceDefinition without spec.group, names.plural, names.kind or versions");
  }
  for (const auto& version : versions) {
    if (!boolAt(version, {"served"})) continue;
    auto& type = add({group, plural, kind}, textAt(version, {"name"}), "",
                     textAt(definition, {"spec", "scope"}) == "Namespaced");
    type.table = fmt::format("{}.{}", plural, group);
    type.hasStatus = findPath(version, {"subresources", "status"}) != nullptr;
    for (const auto& name : listAt(definition, {"spec", "names", "shortNames"})) {
      type.shortNames.push_back(name.get<std::string>());
    }
    for (const auto& field : listAt(version, {"selectableFields"})) {
      const std::string path = textAt(field, {"jsonPath"});
      type.fields.push_back(path.substr(path.find_first_not_of('.')));
    }
    type.definition = version;
    type.strategy = makeCustomStrategy(version);
    if (type.schema().empty()) {
      return base::fail(base::ErrorCode::kInvalid,
                        fmt::format("CustomResourceDefinition {}.{}: version {} has no schema", plural, group,
                                    type.version));
    }
  }
  return {};
}

base::Result<std::unique_ptr<Registry>> Registry::create(const std::vector<std::string>& crdTexts) {
  std::unique_ptr<Registry> registry(new Registry());
  for (const auto& text : crdTexts) {
    auto documents = parseYaml(text);
    if (!documents) return base::fail(documents.error());
    for (const auto& document : *documents) {
      if (textAt(document, {"kind"}) != "CustomResourceDefinition") continue;
      if (auto added = registry->addCustom(document); !added) return base::fail(added.error());
    }
  }
  return registry;
}

const ResourceType* Registry::find(const std::string& group, const std::string& version,
                                   const std::string& plural) const {
  for (const auto& type : types_) {
    if (type->name.group == group && type->version == version && type->name.plural == plural)
      return type.get();
  }
  return nullptr;
}

bool Registry::hasGroup(const std::string& group) const {
  return std::any_of(types_.begin(), types_.end(),
                     [&](const auto& type) { return type->name.group == group; });
}

}  // namespace trainyard::sim
