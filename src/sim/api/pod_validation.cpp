#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/quantity.h"
#include "sim/api/names.h"
#include "sim/api/pods.h"

namespace trainyard::sim {
namespace {

std::string at(const std::string& path, std::size_t index) { return fmt::format("{}[{}]", path, index); }

bool isStandardResource(const std::string& name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || name.rfind("hugepages-", 0) == 0;
}

// Matches "vendor.example/thing": counted in whole units, never overcommitted.
bool isExtendedResource(const std::string& name) {
  return name.find('/') != std::string::npos && name.find("kubernetes.io/") == std::string::npos &&
         name.rfind("requests.", 0) != 0;
}

void oneOf(const std::string& value, std::initializer_list<const char*> allowed, const std::string& path,
           Causes& causes) {
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) causes.notSupported(path, value);
}

void validateAmount(const std::string& name, const std::string& text, const std::string& path,
                    Causes& causes) {
  const auto quantity = base::Quantity::parse(text);
  if (!quantity) return;
  if (quantity->milli() < 0)
    causes.invalid(path, fmt::format("\"{}\": must be greater than or equal to 0", text));
  if (isExtendedResource(name) && quantity->milli() % 1000 != 0)
    causes.invalid(path, fmt::format("\"{}\": must be an integer", text));
}

void validateResourceName(const std::string& name, const std::string& path, Causes& causes) {
  if (!isQualifiedName(name)) {
    causes.invalid(path, fmt::format("\"{}\": name part must consist of alphanumeric characters", name));
  } else if (name.find('/') == std::string::npos && !isStandardResource(name)) {
    causes.invalid(path, fmt::format("\"{}\": must be a standard resource type or fully qualified", name));
    causes.invalid(path, fmt::format("\"{}\": must be a standard resource for containers", name));
  }
}

void validateResources(const Json& resources, const std::string& path, Causes& causes) {
  const Json& limits = objectAt(resources, {"limits"});
  const Json& requests = objectAt(resources, {"requests"});
  for (const auto& [name, value] : limits.items()) {
    validateResourceName(name, fmt::format("{}.limits[{}]", path, name), causes);
    validateAmount(name, value.get<std::string>(), fmt::format("{}.limits[{}]", path, name), causes);
  }
  for (const auto& [name, value] : requests.items()) {
    validateResourceName(name, fmt::format("{}.requests[{}]", path, name), causes);
    const auto text = value.get<std::string>();
    validateAmount(name, text, fmt::format("{}.requests[{}]", path, name), causes);
    const auto request = base::Quantity::parse(text);
    const Json* bound = find(limits, name);
    if (bound == nullptr) {
      if (isExtendedResource(name))
        causes.required(path + ".limits", "Limit must be set for non overcommitable resources");
      continue;
    }
    const auto limit = base::Quantity::parse(bound->get<std::string>());
    if (!request || !limit) continue;
    if (isExtendedResource(name) && *request != *limit) {
      causes.invalid(path + ".requests", fmt::format("\"{}\": must be equal to {} limit of {}", text, name,
                                                     bound->get<std::string>()));
    } else if (*request > *limit) {
      causes.invalid(path + ".requests", fmt::format("\"{}\": must be less than or equal to {} limit of {}",
                                                     text, name, bound->get<std::string>()));
    }
  }
}

void validatePorts(const Json& container, const std::string& path, Causes& causes) {
  const Json& ports = listAt(container, {"ports"});
  std::set<std::string> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string here = at(path + ".ports", i);
    const std::string name = textAt(ports[i], {"name"});
    if (!name.empty() && !isPortName(name)) causes.invalid(here + ".name", fmt::format("\"{}\"", name));
    if (!name.empty() && !names.insert(name).second) causes.duplicate(here + ".name", name);
    const auto port = intAt(ports[i], {"containerPort"}).value_or(0);
    if (port == 0) {
      causes.required(here + ".containerPort");
    } else if (port < 1 || port > 65535) {
      causes.invalid(here + ".containerPort",
                     fmt::format("{}: must be between 1 and 65535, inclusive", port));
    }
    oneOf(textAt(ports[i], {"protocol"}), {"TCP", "UDP", "SCTP"}, here + ".protocol", causes);
  }
}

void validateMounts(const Json& container, const std::set<std::string>& volumes, const std::string& path,
                    Causes& causes) {
  const Json& mounts = listAt(container, {"volumeMounts"});
  std::set<std::string> paths;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const std::string here = at(path + ".volumeMounts", i);
    const std::string name = textAt(mounts[i], {"name"});
    const std::string where = textAt(mounts[i], {"mountPath"});
    if (name.empty()) causes.required(here + ".name");
    if (volumes.count(name) == 0) causes.notFound(here + ".name", name);
    if (where.empty()) causes.required(here + ".mountPath");
    if (!paths.insert(where).second)
      causes.invalid(here + ".mountPath", fmt::format("\"{}\": must be unique", where));
  }
}

void validateContainer(const Json& container, const std::set<std::string>& volumes,
                       std::set<std::string>& names, const std::string& path, Causes& causes) {
  const std::string name = textAt(container, {"name"});
  if (name.empty()) {
    causes.required(path + ".name");
  } else if (!isDnsLabel(name)) {
    causes.invalid(
        path + ".name",
        fmt::format("\"{}\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters",
                    name));
  } else if (!names.insert(name).second) {
    causes.duplicate(path + ".name", name);
  }
  if (textAt(container, {"image"}).empty()) causes.required(path + ".image");
  oneOf(textAt(container, {"terminationMessagePolicy"}), {"File", "FallbackToLogsOnError"},
        path + ".terminationMessagePolicy", causes);
  oneOf(textAt(container, {"imagePullPolicy"}), {"Always", "IfNotPresent", "Never"},
        path + ".imagePullPolicy", causes);
  validatePorts(container, path, causes);
  const Json& env = listAt(container, {"env"});
  for (std::size_t i = 0; i < env.size(); ++i) {
    const std::string variable = textAt(env[i], {"name"});
    if (variable.empty()) {
      causes.required(at(path + ".env", i) + ".name");
    } else if (!isEnvVarName(variable)) {
      causes.invalid(at(path + ".env", i) + ".name", fmt::format("\"{}\"", variable));
    }
  }
  validateMounts(container, volumes, path, causes);
  validateResources(objectAt(container, {"resources"}), path + ".resources", causes);
}

std::set<std::string> validateVolumes(const Json& spec, Causes& causes) {
  std::set<std::string> names;
  const Json& volumes = listAt(spec, {"volumes"});
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const std::string here = at("spec.volumes", i);
    const std::string name = textAt(volumes[i], {"name"});
    if (name.empty()) {
      causes.required(here + ".name");
    } else if (!isDnsLabel(name)) {
      causes.invalid(here + ".name", fmt::format("\"{}\": a lowercase RFC 1123 label", name));
    } else if (!names.insert(name).second) {
      causes.duplicate(here + ".name", name);
    }
    int sources = 0;
    for (const auto& [member, value] : volumes[i].items()) sources += member != "name" ? 1 : 0;
    if (sources > 1) causes.forbidden(here, "may not specify more than 1 volume type");
  }
  return names;
}

void validateRequirement(const Json& requirement, bool fields, const std::string& path, Causes& causes) {
  const std::string op = textAt(requirement, {"operator"});
  const Json& values = listAt(requirement, {"values"});
  const std::string key = textAt(requirement, {"key"});
  if (fields) {
    if (op == "In" || op == "NotIn") {
      if (values.size() != 1)
        causes.required(path + ".values",
                        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
    } else {
      causes.invalid(path + ".operator", fmt::format("\"{}\": not a valid selector operator", op));
    }
    if (key != "metadata.name")
      causes.invalid(path + ".key", fmt::format("\"{}\": not a valid field selector key", key));
    return;
  }
  if (op == "In" || op == "NotIn") {
    if (values.empty())
      causes.required(path + ".values", "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty())
      causes.forbidden(path + ".values",
                       "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else if (op == "Gt" || op == "Lt") {
    if (values.size() != 1)
      causes.required(path + ".values", "must be specified single value when `operator` is 'Lt' or 'Gt'");
  } else {
    causes.invalid(path + ".operator", fmt::format("\"{}\": not a valid selector operator", op));
  }
  if (!isQualifiedName(key))
    causes.invalid(path + ".key",
                   fmt::format("\"{}\": name part must consist of alphanumeric characters", key));
}

void validateTerm(const Json& term, const std::string& path, Causes& causes) {
  for (const bool fields : {false, true}) {
    const char* name = fields ? "matchFields" : "matchExpressions";
    const Json& list = listAt(term, {name});
    for (std::size_t i = 0; i < list.size(); ++i)
      validateRequirement(list[i], fields, at(path + "." + name, i), causes);
  }
}

void validateTolerations(const Json& spec, Causes& causes) {
  const Json& list = listAt(spec, {"tolerations"});
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string here = at("spec.tolerations", i);
    const std::string key = textAt(list[i], {"key"});
    const std::string op = textAt(list[i], {"operator"});
    if (!key.empty() && !isQualifiedName(key)) causes.invalid(here + ".key", fmt::format("\"{}\"", key));
    if (key.empty() && op != "Exists")
      causes.invalid(here + ".operator", fmt::format("\"{}\": operator must be Exists when `key` is empty, "
                                                     "which means \"match all values and all keys\"",
                                                     op));
    if (list[i].contains("tolerationSeconds") && textAt(list[i], {"effect"}) != "NoExecute") {
      causes.invalid(here + ".effect", "\"\": effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (op == "Exists" && !textAt(list[i], {"value"}).empty())
      causes.invalid(here + ".operator", "value must be empty when `operator` is 'Exists'");
    if (!op.empty()) {
      oneOf(op, {"Equal", "Exists"}, here + ".operator", causes);
    }
    const std::string effect = textAt(list[i], {"effect"});
    if (!effect.empty())
      oneOf(effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"}, here + ".effect", causes);
  }
}

void validateGates(const Json& spec, Causes& causes) {
  const Json& gates = listAt(spec, {"schedulingGates"});
  std::set<std::string> names;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const std::string name = textAt(gates[i], {"name"});
    const std::string here = at("spec.schedulingGates", i);
    if (!isQualifiedName(name))
      causes.invalid(here, fmt::format("\"{}\": name part must consist of alphanumeric characters", name));
    if (!names.insert(name).second) causes.duplicate(here, name);
  }
  if (!gates.empty() && !textAt(spec, {"nodeName"}).empty()) {
    causes.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared");
  }
}

}  // namespace

void validateNodeAffinity(const Json& affinity, const std::string& path, Causes& causes) {
  if (const Json* required = find(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
      required != nullptr) {
    const std::string here = path + ".requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    const Json& terms = listAt(*required, {"nodeSelectorTerms"});
    if (terms.empty()) causes.required(here, "must have at least one node selector term");
    for (std::size_t i = 0; i < terms.size(); ++i) validateTerm(terms[i], at(here, i), causes);
  }
  const Json& preferred = listAt(affinity, {"preferredDuringSchedulingIgnoredDuringExecution"});
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const std::string here = at(path + ".preferredDuringSchedulingIgnoredDuringExecution", i);
    const auto weight = intAt(preferred[i], {"weight"}).value_or(0);
    if (weight < 1 || weight > 100)
      causes.invalid(here + ".weight", fmt::format("{}: must be in the range 1-100", weight));
    validateTerm(objectAt(preferred[i], {"preference"}), here + ".preference", causes);
  }
}

void validatePodSpec(const Json& pod, Causes& causes) {
  const Json& spec = objectAt(pod, {"spec"});
  const auto volumes = validateVolumes(spec, causes);
  std::set<std::string> names;
  const Json& containers = listAt(spec, {"containers"});
  if (containers.empty()) causes.required("spec.containers");
  for (std::size_t i = 0; i < containers.size(); ++i) {
    validateContainer(containers[i], volumes, names, at("spec.containers", i), causes);
  }
  const Json& first = listAt(spec, {"initContainers"});
  for (std::size_t i = 0; i < first.size(); ++i)
    validateContainer(first[i], volumes, names, at("spec.initContainers", i), causes);
  oneOf(textAt(spec, {"restartPolicy"}), {"Always", "OnFailure", "Never"}, "spec.restartPolicy", causes);
  oneOf(textAt(spec, {"dnsPolicy"}), {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"},
        "spec.dnsPolicy", causes);
  if (const auto deadline = intAt(spec, {"activeDeadlineSeconds"});
      deadline && (*deadline < 1 || *deadline > INT32_MAX)) {
    causes.invalid("spec.activeDeadlineSeconds",
                   fmt::format("{}: must be between 1 and 2147483647, inclusive", *deadline));
  }
  for (const char* field : {"hostname", "subdomain"}) {
    const std::string text = textAt(spec, {field});
    if (!text.empty() && !isDnsLabel(text))
      causes.invalid(std::string("spec.") + field, fmt::format("\"{}\": a lowercase RFC 1123 label", text));
  }
  for (const char* field : {"nodeName", "serviceAccountName", "priorityClassName"}) {
    const std::string text = textAt(spec, {field});
    if (!text.empty() && !isDnsSubdomain(text))
      causes.invalid(std::string("spec.") + field,
                     fmt::format("\"{}\": a lowercase RFC 1123 subdomain", text));
  }
  for (const auto& [key, value] : objectAt(spec, {"nodeSelector"}).items()) {
    if (!isQualifiedName(key)) causes.invalid("spec.nodeSelector", fmt::format("\"{}\"", key));
    if (!isLabelValue(value.get<std::string>())) causes.invalid("spec.nodeSelector", value.dump());
  }
  validateTolerations(spec, causes);
  if (const Json* affinity = findPath(spec, {"affinity", "nodeAffinity"}); affinity != nullptr) {
    validateNodeAffinity(*affinity, "spec.affinity.nodeAffinity", causes);
  }
  validateGates(spec, causes);
}

}  // namespace trainyard::sim
