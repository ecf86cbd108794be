#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "sim/api/pods.h"

namespace trainyard::sim {
namespace {

const ResourceName kPods{"", "pods", "Pod"};
constexpr const char* kTokenPath = "/var/run/secrets/kubernetes.io/serviceaccount";

tl::unexpected<Failure> forbid(const Json& pod, const std::string& why) {
  return failForbidden(kPods, textAt(pod, {"metadata", "name"}), why);
}

bool mountsToken(const Json& container) {
  const Json& mounts = listAt(container, {"volumeMounts"});
  return std::any_of(mounts.begin(), mounts.end(),
                     [](const Json& mount) { return textAt(mount, {"mountPath"}) == kTokenPath; });
}

Json tokenVolume(const std::string& name) {
  const Json token = {{"serviceAccountToken", {{"expirationSeconds", 3607}, {"path", "token"}}}};
  const Json root = {
      {"configMap", {{"name", "kube-root-ca.crt"}, {"items", {{{"key", "ca.crt"}, {"path", "ca.crt"}}}}}}};
  const Json field = {{"apiVersion", "v1"}, {"fieldPath", "metadata.namespace"}};
  const Json space = {{"downwardAPI", {{"items", {{{"path", "namespace"}, {"fieldRef", field}}}}}}};
  return {{"name", name}, {"projected", {{"sources", {token, root, space}}, {"defaultMode", 0644}}}};
}

void mountToken(const AdmissionView& view, Json& spec) {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string volume = "kube-api-access-";
  for (int i = 0; i < 5; ++i) volume += kLetters[view.rng->below(kLetters.size())];
  bool used = false;
  for (const char* name : {"initContainers", "containers"}) {
    const auto list = spec.find(name);
    if (list == spec.end() || !list->is_array()) continue;
    for (auto& container : *list) {
      if (mountsToken(container)) continue;
      container["volumeMounts"].push_back({{"name", volume}, {"readOnly", true}, {"mountPath", kTokenPath}});
      used = true;
    }
  }
  if (used) spec["volumes"].push_back(tokenVolume(volume));
}

Outcome<void> admitServiceAccount(const AdmissionView& view, Json& pod) {
  Json& spec = pod["spec"];
  if (textAt(spec, {"serviceAccountName"}).empty()) {
    spec["serviceAccountName"] = "default";
    spec["serviceAccount"] = "default";
  }
  const std::string space = textAt(pod, {"metadata", "namespace"});
  const std::string name = textAt(spec, {"serviceAccountName"});
  const Json* account = view.get("serviceaccounts", space, name);
  if (account == nullptr) {
    return forbid(pod, fmt::format("error looking up service account {}/{}: serviceaccount \"{}\" not found",
                                   space, name, name));
  }
  const Json* own = find(spec, "automountServiceAccountToken");
  const Json* theirs = find(*account, "automountServiceAccountToken");
  const bool refused = own != nullptr ? *own == false : theirs != nullptr && *theirs == false;
  if (!refused) mountToken(view, spec);
  if (listAt(spec, {"imagePullSecrets"}).empty() && account->contains("imagePullSecrets")) {
    spec["imagePullSecrets"] = account->at("imagePullSecrets");
  }
  return {};
}

const Json* defaultPriorityClass(const AdmissionView& view) {
  const Json* chosen = nullptr;
  for (const Json* candidate : view.list("priorityclasses", "")) {
    if (!boolAt(*candidate, {"globalDefault"})) continue;
    // If there are several, the smallest value applies, which limits the damage of a mistake.
    if (chosen == nullptr || intAt(*candidate, {"value"}) < intAt(*chosen, {"value"})) chosen = candidate;
  }
  return chosen;
}

Outcome<void> admitPriority(const AdmissionView& view, Json& pod) {
  Json& spec = pod["spec"];
  const std::string name = textAt(spec, {"priorityClassName"});
  const Json* found = name.empty() ? defaultPriorityClass(view) : view.get("priorityclasses", "", name);
  if (found == nullptr && !name.empty())
    return forbid(pod, fmt::format("no PriorityClass with name {} was found", name));
  if (found != nullptr && name.empty()) spec["priorityClassName"] = textAt(*found, {"metadata", "name"});
  const std::int64_t value = found == nullptr ? 0 : intAt(*found, {"value"}).value_or(0);
  std::string policy = found == nullptr ? "" : textAt(*found, {"preemptionPolicy"});
  if (policy.empty()) policy = "PreemptLowerPriority";
  if (const auto asked = intAt(spec, {"priority"}); asked && *asked != value) {
    return forbid(pod,
                  fmt::format("the integer value of priority ({}) must not be provided in pod spec; priority "
                              "admission controller computed {} from the given PriorityClass name",
                              *asked, value));
  }
  if (const std::string asked = textAt(spec, {"preemptionPolicy"}); !asked.empty() && asked != policy) {
    return forbid(pod,
                  fmt::format("the string value of PreemptionPolicy ({}) must not be provided in pod spec; "
                              "priority admission controller computed {} from the given PriorityClass name",
                              asked, policy));
  }
  spec["priority"] = value;
  spec["preemptionPolicy"] = policy;
  return {};
}

void admitTolerations(Json& pod) {
  Json& spec = pod["spec"];
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    const Json& held = listAt(spec, {"tolerations"});
    const bool tolerated = std::any_of(held.begin(), held.end(), [&](const Json& toleration) {
      const std::string its = textAt(toleration, {"key"});
      const std::string effect = textAt(toleration, {"effect"});
      return (its.empty() || its == key) && (effect.empty() || effect == "NoExecute");
    });
    if (tolerated) continue;
    spec["tolerations"].push_back(
        {{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}});
  }
}

}  // namespace

Outcome<void> admitPod(const AdmissionView& view, Json& pod, const Json* old) {
  Json& spec = pod["spec"];
  if (old != nullptr) {
    // A client that omits these fields keeps the values computed at creation.
    for (const char* field : {"priority", "preemptionPolicy", "serviceAccountName", "serviceAccount"}) {
      if (!spec.contains(field)) copyMember(spec, old->at("spec"), field);
    }
    admitTolerations(pod);
    return {};
  }
  if (auto done = applyLimitRanges(view, pod); !done) return done;
  if (auto done = admitServiceAccount(view, pod); !done) return done;
  if (auto done = admitPriority(view, pod); !done) return done;
  admitTolerations(pod);
  if (const std::string node = textAt(spec, {"nodeName"}); !node.empty()) {
    if (const Json* found = view.get("nodes", "", node); found != nullptr) copyTopology(*found, pod);
  }
  return {};
}

std::string qosClass(const Json& pod) {
  bool anything = false;
  bool guaranteed = true;
  for (const char* list : {"containers", "initContainers"}) {
    for (const auto& container : listAt(pod, {"spec", list})) {
      for (const char* resource : {"cpu", "memory"}) {
        const auto request = base::Quantity::parse(textAt(container, {"resources", "requests", resource}));
        const auto limit = base::Quantity::parse(textAt(container, {"resources", "limits", resource}));
        const bool asks = request && request->milli() > 0;
        const bool bounded = limit && limit->milli() > 0;
        anything = anything || asks || bounded;
        guaranteed = guaranteed && bounded && (!asks || *request == *limit);
      }
    }
  }
  if (!anything) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace trainyard::sim
