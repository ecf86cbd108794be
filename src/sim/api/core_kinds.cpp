#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/api/names.h"
#include "sim/api/registry.h"

namespace trainyard::sim {
namespace {

void setDefault(Json& object, const char* name, const Json& value) {
  if (!object.contains(name)) object[name] = value;
}

class NodeStrategy final : public Strategy {
 public:
  void defaults(Json& node) const override {
    Json& status = node["status"];
    if (status.contains("capacity") && !status.contains("allocatable")) {
      const Json capacity = status["capacity"];
      status["allocatable"] = capacity;
    }
  }

  Outcome<void> admit(const AdmissionView&, Json& node, const Json* old) const override {
    if (old != nullptr) return {};
    // TaintNodesByCondition: a node is not used until the node controller has seen it ready.
    constexpr const char* kNotReady = "node.kubernetes.io/not-ready";
    for (const auto& taint : listAt(node, {"spec", "taints"})) {
      if (textAt(taint, {"key"}) == kNotReady && textAt(taint, {"effect"}) == "NoSchedule") return {};
    }
    node["spec"]["taints"].push_back({{"key", kNotReady}, {"effect", "NoSchedule"}});
    return {};
  }

  void validate(const Json& node, Causes& causes) const override {
    std::set<std::string> seen;
    const Json& taints = listAt(node, {"spec", "taints"});
    for (std::size_t i = 0; i < taints.size(); ++i) {
      const std::string path = fmt::format("metadata.taints[{}]", i);
      const std::string key = textAt(taints[i], {"key"});
      const std::string effect = textAt(taints[i], {"effect"});
      if (!isQualifiedName(key)) causes.invalid(path + ".key", fmt::format("\"{}\"", key));
      if (effect.empty()) {
        causes.required(path + ".effect");
      } else if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
        causes.notSupported(path + ".effect", effect);
      }
      if (!seen.insert(fmt::format("{}:{}", key, effect)).second) causes.duplicate(path, key);
    }
  }

  void validateUpdate(const Json&, const Json& node, Part, Causes& causes) const override {
    validate(node, causes);
  }
};

class NamespaceStrategy final : public Strategy {
 public:
  NamespaceStrategy() { returnsDeleted = true; }
  void defaults(Json& space) const override {
    const std::string name = textAt(space, {"metadata", "name"});
    if (!name.empty()) space["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
  }
  void prepareCreate(Json& space, base::WallTime) const override {
    defaults(space);
    Json finalizers = listAt(space, {"spec", "finalizers"});
    if (std::find(finalizers.begin(), finalizers.end(), Json("kubernetes")) == finalizers.end())
      finalizers.push_back("kubernetes");
    space["spec"]["finalizers"] = finalizers;
    space["status"] = {{"phase", "Active"}};
  }
  void prepareUpdate(const Json& old, Json& space, Part part) const override {
    Strategy::prepareUpdate(old, space, part);
    copyMember(space["spec"], old.at("spec"), "finalizers");
  }
  bool validName(const std::string& name) const override { return isDnsLabel(name); }
};

class ConfigMapStrategy final : public Strategy {
 public:
  void validate(const Json& map, Causes& causes) const override {
    std::size_t size = 0;
    for (const char* part : {"data", "binaryData"}) {
      for (const auto& [key, value] : objectAt(map, {part}).items()) {
        if (!isConfigMapKey(key))
          causes.invalid(
              fmt::format("{}[{}]", part, key),
              fmt::format("\"{}\": a valid config key must consist of alphanumeric characters", key));
        if (std::string_view(part) == "binaryData" && objectAt(map, {"data"}).contains(key)) {
          causes.invalid(fmt::format("data[{}]", key),
                         fmt::format("\"{}\": duplicate of key present in binaryData", key));
        }
        size += value.is_string() ? value.get_ref<const std::string&>().size() : 0;
      }
    }
    if (size > 1'048'576) causes.tooLong("", "may not be more than 1048576 bytes");
  }
  void validateUpdate(const Json& old, const Json& map, Part, Causes& causes) const override {
    if (boolAt(old, {"immutable"})) {
      if (!boolAt(map, {"immutable"}))
        causes.forbidden("immutable", "field is immutable when `immutable` is set");
      for (const char* part : {"data", "binaryData"}) {
        if (!sameAt(old, map, {part})) causes.forbidden(part, "field is immutable when `immutable` is set");
      }
    }
    validate(map, causes);
  }
};

class LeaseStrategy final : public Strategy {
 public:
  LeaseStrategy() {
    createOnUpdate = true;
    unconditionalUpdate = false;
  }
  void validate(const Json& lease, Causes& causes) const override {
    if (const auto duration = intAt(lease, {"spec", "leaseDurationSeconds"}); duration && *duration <= 0) {
      causes.invalid("spec.leaseDurationSeconds", fmt::format("{}: must be greater than 0", *duration));
    }
    if (const auto times = intAt(lease, {"spec", "leaseTransitions"}); times && *times < 0) {
      causes.invalid("spec.leaseTransitions", fmt::format("{}: must be greater than or equal to 0", *times));
    }
  }
  void validateUpdate(const Json&, const Json& lease, Part, Causes& causes) const override {
    validate(lease, causes);
  }
};

class PriorityClassStrategy final : public Strategy {
 public:
  void defaults(Json& object) const override {
    setDefault(object, "preemptionPolicy", "PreemptLowerPriority");
  }

  Outcome<void> admit(const AdmissionView& view, Json& object, const Json*) const override {
    if (!boolAt(object, {"globalDefault"})) return {};
    const std::string name = textAt(object, {"metadata", "name"});
    for (const Json* other : view.list("priorityclasses", "")) {
      if (!boolAt(*other, {"globalDefault"}) || textAt(*other, {"metadata", "name"}) == name) continue;
      return failForbidden(
          {"scheduling.k8s.io", "priorityclasses", "PriorityClass"}, name,
          fmt::format("PriorityClass {} is already marked as default. Only one default can exist",
                      textAt(*other, {"metadata", "name"})));
    }
    return {};
  }
  void prepareCreate(Json& object, base::WallTime) const override { object["metadata"]["generation"] = 1; }
  void validate(const Json& object, Causes& causes) const override {
    const std::string name = textAt(object, {"metadata", "name"});
    if (name.rfind("system-", 0) == 0) {
      causes.forbidden("metadata.name",
                       "priority class names with 'system-' prefix are reserved for system use only");
    } else if (intAt(object, {"value"}).value_or(0) > 1'000'000'000) {
      causes.forbidden("value", "maximum allowed value of a user defined priority is 1000000000");
    }
    const std::string policy = textAt(object, {"preemptionPolicy"});
    if (policy != "Never" && policy != "PreemptLowerPriority")
      causes.notSupported("preemptionPolicy", policy);
  }
  void prepareUpdate(const Json&, Json&, Part) const override {}
  void validateUpdate(const Json& old, const Json& object, Part, Causes& causes) const override {
    if (!sameAt(old, object, {"value"})) causes.forbidden("value", "may not be changed in an update.");
    if (!sameAt(old, object, {"preemptionPolicy"})) causes.invalid("preemptionPolicy", "field is immutable");
  }
};

class ServiceAccountStrategy final : public Strategy {
 public:
  ServiceAccountStrategy() { returnsDeleted = true; }
};

class LimitRangeStrategy final : public Strategy {
 public:
  LimitRangeStrategy() { createOnUpdate = true; }
  void defaults(Json& object) const override {
    const auto spec = object.find("spec");
    if (spec == object.end() || !spec->value("limits", Json()).is_array()) return;
    for (auto& item : (*spec)["limits"]) {
      if (textAt(item, {"type"}) != "Container") continue;
      fill(item, "default", "max");
      fill(item, "defaultRequest", "default");
      fill(item, "defaultRequest", "min");
    }
  }

 private:
  static void fill(Json& item, const char* to, const char* from) {
    const Json source = objectAt(item, {from});
    for (const auto& [resource, value] : source.items()) {
      if (findPath(item, {to, resource}) == nullptr) item[to][resource] = value;
    }
  }
};

class QuotaStrategy final : public Strategy {
 public:
  QuotaStrategy() { returnsDeleted = true; }
  void prepareCreate(Json& object, base::WallTime) const override { object["status"] = Json::object(); }
};

}  // namespace

std::unique_ptr<Strategy> makeNodeStrategy() { return std::make_unique<NodeStrategy>(); }
std::unique_ptr<Strategy> makeNamespaceStrategy() { return std::make_unique<NamespaceStrategy>(); }
std::unique_ptr<Strategy> makeConfigMapStrategy() { return std::make_unique<ConfigMapStrategy>(); }
std::unique_ptr<Strategy> makeLeaseStrategy() { return std::make_unique<LeaseStrategy>(); }
std::unique_ptr<Strategy> makePriorityClassStrategy() { return std::make_unique<PriorityClassStrategy>(); }
std::unique_ptr<Strategy> makeServiceAccountStrategy() { return std::make_unique<ServiceAccountStrategy>(); }
std::unique_ptr<Strategy> makeLimitRangeStrategy() { return std::make_unique<LimitRangeStrategy>(); }
std::unique_ptr<Strategy> makeQuotaStrategy() { return std::make_unique<QuotaStrategy>(); }

}  // namespace trainyard::sim
