#include "sim/api/pod_binder.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/api/pods.h"

namespace trainyard::sim {

Outcome<Answer> PodBinder::bind(const RequestInfo& info) {
  std::vector<std::string> duplicates;
  auto document = bodies_.parse(info, duplicates);
  if (!document) return tl::unexpected<Failure>(document.error());
  document->erase("apiVersion");
  document->erase("kind");
  std::vector<std::string> unknown;
  auto binding = roundTrip(state_.registry->structType("Binding"), *document, unknown);
  if (!binding) return tl::unexpected<Failure>(binding.error());
  if (textAt(*binding, {"metadata", "name"}) != info.path.name) {
    return failBadRequest("name in URL does not match name in Binding object");
  }
  const std::string node = textAt(*binding, {"target", "name"});
  const std::string kind = textAt(*binding, {"target", "kind"});
  if (node.empty() || (!kind.empty() && kind != "Node")) {
    // The real server answers 500, because it does not convert this aggregate of field errors to a status.
    return tl::unexpected<Failure>(Failure{500, "", "target.name: Required value", nullptr});
  }
  const ObjectPtr old = state_.store.get("pods", info.key());
  if (old == nullptr) return failNotFound(info.type->name, info.path.name);
  const ResourceName resource{"", "pods/binding", "Pod"};
  const std::string uid = textAt(*binding, {"metadata", "uid"});
  const std::string version = textAt(*binding, {"metadata", "resourceVersion"});
  if (!uid.empty() && uid != textAt(*old, {"metadata", "uid"})) {
    return failConflict(info.type->name, info.path.name, "Precondition failed: UID in precondition");
  }
  if (!version.empty() && version != textAt(*old, {"metadata", "resourceVersion"})) {
    return failConflict(info.type->name, info.path.name,
                        "Precondition failed: ResourceVersion in precondition");
  }
  if (findPath(*old, {"metadata", "deletionTimestamp"}) != nullptr) {
    return failConflict(resource, info.path.name,
                        fmt::format("pod {} is being deleted, cannot be assigned to a host", info.path.name));
  }
  if (const std::string held = textAt(*old, {"spec", "nodeName"}); !held.empty()) {
    return failConflict(resource, info.path.name,
                        fmt::format("pod {} is already assigned to node \"{}\"", info.path.name, held));
  }
  if (!listAt(*old, {"spec", "schedulingGates"}).empty()) {
    return failConflict(resource, info.path.name,
                        fmt::format("pod {} has non-empty .spec.schedulingGates", info.path.name));
  }
  Json pod = *old;
  assignNode(pod, *binding, node, state_.clock());
  if (const ObjectPtr found = state_.store.get("nodes", {"", node}); found != nullptr)
    copyTopology(*found, pod);
  if (!info.dryRun) state_.store.put("pods", info.key(), std::move(pod));
  return Answer{201,
                {{"kind", "Status"},
                 {"apiVersion", "v1"},
                 {"metadata", Json::object()},
                 {"status", "Success"},
                 {"code", 201}}};
}

}  // namespace trainyard::sim
