#include "sim/api/pod_evictor.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/api/pods.h"

namespace trainyard::sim {
namespace {

void addDisruptionTarget(Json& pod, base::WallTime now) {
  Json& conditions = pod["status"]["conditions"];
  if (conditions.is_null()) conditions = Json::array();
  Json kept = Json::array();
  for (const auto& each : conditions) {
    if (textAt(each, {"type"}) != "DisruptionTarget") kept.push_back(each);
  }
  kept.push_back({{"type", "DisruptionTarget"},
                  {"status", "True"},
                  {"lastProbeTime", nullptr},
                  {"lastTransitionTime", base::formatTime(now)},
                  {"reason", "EvictionByEvictionAPI"},
                  {"message", "Eviction API: evicting"}});
  conditions = std::move(kept);
}

}  // namespace

Outcome<Answer> PodEvictor::evict(const RequestInfo& info) {
  std::vector<std::string> duplicates;
  const auto body = bodies_.parse(info, duplicates);
  if (!body) return tl::unexpected<Failure>(body.error());
  const std::string name = textAt(*body, {"metadata", "name"});
  if (!name.empty() && name != info.path.name)
    return failBadRequest("name in URL does not match name in Eviction object");
  const ObjectPtr old = state_.store.get("pods", info.key());
  if (old == nullptr) return failNotFound(info.type->name, info.path.name);
  DeleteOptions options;
  options.uid = textAt(*body, {"deleteOptions", "preconditions", "uid"});
  options.version = textAt(*body, {"deleteOptions", "preconditions", "resourceVersion"});
  options.grace = intAt(*body, {"deleteOptions", "gracePeriodSeconds"});
  options.dryRun = info.dryRun;
  const std::string uid = textAt(*old, {"metadata", "uid"});
  if (!options.uid.empty() && options.uid != uid) {
    return failConflict(info.type->name, info.path.name,
                        fmt::format("the UID in the precondition ({}) does not match the UID in record ({}). "
                                    "The object might have been deleted and then recreated",
                                    options.uid, uid));
  }
  // A pod that is being deleted keeps its conditions.
  const bool marks = findPath(*old, {"metadata", "deletionTimestamp"}) == nullptr && options.version.empty();
  if (marks && !info.dryRun) {
    Json pod = *old;
    addDisruptionTarget(pod, state_.clock());
    state_.store.put("pods", info.key(), std::move(pod));
  }
  if (auto removed = remover_.removeObject(*info.type, info.key(), options); !removed)
    return tl::unexpected<Failure>(removed.error());
  return Answer{201,
                {{"kind", "Status"},
                 {"apiVersion", "v1"},
                 {"metadata", Json::object()},
                 {"status", "Success"},
                 {"code", 201}}};
}

}  // namespace trainyard::sim
