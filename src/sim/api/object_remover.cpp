#include "sim/api/object_remover.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "sim/api/watch.h"

namespace trainyard::sim {
namespace {

constexpr const char* kOrphan = "orphan";
constexpr const char* kForegroundFinalizer = "foregroundDeletion";

// Sets the finalizers by which a propagation policy requests work of the garbage collector.
void setPropagation(Json& object, const std::string& policy) {
  const Json& held = listAt(object, {"metadata", "finalizers"});
  const bool hadOrphan = std::find(held.begin(), held.end(), Json(kOrphan)) != held.end();
  const bool hadForeground = std::find(held.begin(), held.end(), Json(kForegroundFinalizer)) != held.end();
  const bool orphan = policy == "Orphan" || (policy.empty() && hadOrphan);
  const bool foreground = policy == "Foreground" || (policy.empty() && hadForeground && !orphan);
  if (orphan == hadOrphan && foreground == hadForeground) return;
  Json finalizers = Json::array();
  for (const auto& name : held) {
    if (name != kOrphan && name != kForegroundFinalizer) finalizers.push_back(name);
  }
  if (orphan) finalizers.push_back(kOrphan);
  if (foreground) finalizers.push_back(kForegroundFinalizer);
  if (finalizers.empty()) {
    object["metadata"].erase("finalizers");
  } else {
    object["metadata"]["finalizers"] = std::move(finalizers);
  }
}

void markDeleting(Json& object, base::WallTime when, std::int64_t grace) {
  Json& meta = object["metadata"];
  if (!meta.contains("deletionTimestamp")) {
    const auto generation = intAt(meta, {"generation"}).value_or(0);
    if (generation > 0) meta["generation"] = generation + 1;
    meta["deletionTimestamp"] = base::formatTime(when + std::chrono::seconds(grace));
  }
  meta["deletionGracePeriodSeconds"] = grace;
}

Outcome<void> checkPreconditions(ResourceName resource, const Json& object, const DeleteOptions& options) {
  resource.plural = resource.kind;  // as the real server names it here
  const std::string name = textAt(object, {"metadata", "name"});
  if (!options.uid.empty() && options.uid != textAt(object, {"metadata", "uid"})) {
    return failConflict(resource, name,
                        fmt::format("the UID in the precondition ({}) does not match the UID in record ({}). "
                                    "The object might have been deleted and then recreated",
                                    options.uid, textAt(object, {"metadata", "uid"})));
  }
  if (!options.version.empty() && options.version != textAt(object, {"metadata", "resourceVersion"})) {
    return failConflict(resource, name,
                        fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                                    "ResourceVersion in record ({}). The object might have been modified",
                                    options.version, textAt(object, {"metadata", "resourceVersion"})));
  }
  return {};
}

}  // namespace

Outcome<DeleteOptions> ObjectRemover::deleteOptions(const RequestInfo& info) const {
  DeleteOptions options;
  options.dryRun = info.dryRun;
  Json body = Json::object();
  if (!info.http->body.empty()) {
    std::vector<std::string> duplicates;
    auto parsed = bodies_.parse(info, duplicates);
    if (!parsed) return tl::unexpected<Failure>(parsed.error());
    const std::string kind = textAt(*parsed, {"kind"});
    if (!parsed->is_object() || (!kind.empty() && kind != "DeleteOptions")) {
      return failBadRequest("the object provided is unrecognized (must be of type DeleteOptions)");
    }
    parsed->erase("kind");
    parsed->erase("apiVersion");
    std::vector<std::string> unknown;
    auto typed = roundTrip(state_.registry->structType("DeleteOptions"), *parsed, unknown);
    if (!typed) return tl::unexpected<Failure>(typed.error());
    body = *std::move(typed);
  } else {
    const Query& query = info.path.query;
    const std::string grace = queryText(query, "gracePeriodSeconds");
    if (!grace.empty()) {
      const Json number = Json::parse(grace, nullptr, false);
      if (!number.is_number_integer()) return failBadRequest("invalid gracePeriodSeconds: " + grace);
      body["gracePeriodSeconds"] = number;
    }
    const std::string policy = queryText(query, "propagationPolicy");
    if (!policy.empty()) body["propagationPolicy"] = policy;
    const std::string orphan = queryText(query, "orphanDependents");
    if (!orphan.empty()) body["orphanDependents"] = orphan == "true";
  }
  options.grace = intAt(body, {"gracePeriodSeconds"});
  options.uid = textAt(body, {"preconditions", "uid"});
  options.version = textAt(body, {"preconditions", "resourceVersion"});
  options.propagation = textAt(body, {"propagationPolicy"});
  Causes causes;
  if (body.contains("orphanDependents") && !options.propagation.empty()) {
    causes.invalid("propagationPolicy", "orphanDependents and deletionPropagation cannot be both set");
  } else if (body.contains("orphanDependents")) {
    options.cascadeAsked = !boolAt(body, {"orphanDependents"});
    options.propagation = options.cascadeAsked ? "Background" : "Orphan";
  }
  if (!options.propagation.empty() && options.propagation != "Background" &&
      options.propagation != "Foreground" && options.propagation != "Orphan") {
    causes.notSupported("propagationPolicy", options.propagation);
  }
  for (const auto& value : listAt(body, {"dryRun"})) {
    if (value == "All") {
      options.dryRun = true;
    } else {
      causes.notSupported("dryRun", value.get<std::string>());
    }
  }
  if (!causes.empty()) return failInvalid({"meta.k8s.io", "", "DeleteOptions"}, "", causes);
  return options;
}

std::pair<bool, ObjectPtr> ObjectRemover::removeNamespace(const ResourceType& type, const ObjectKey& key,
                                                          Json object, const DeleteOptions& options) {
  // A namespace is deleted after the namespace controller has emptied it and removed "kubernetes" from
  // spec.finalizers.
  if (findPath(object, {"metadata", "deletionTimestamp"}) == nullptr) {
    object["metadata"]["deletionTimestamp"] = base::formatTime(state_.clock());
    object["status"]["phase"] = "Terminating";
    const ObjectPtr kept =
        options.dryRun ? std::make_shared<const Json>(object) : state_.store.put(type.table, key, object);
    return {false, kept};
  }
  const bool empty =
      listAt(object, {"spec", "finalizers"}).empty() && listAt(object, {"metadata", "finalizers"}).empty();
  if (!empty || options.dryRun) return {false, state_.store.get(type.table, key)};
  return {true, state_.store.erase(type.table, key)};
}

Outcome<std::pair<bool, ObjectPtr>> ObjectRemover::removeObject(const ResourceType& type,
                                                                const ObjectKey& key,
                                                                const DeleteOptions& options) {
  const ObjectPtr old = state_.store.get(type.table, key);
  if (old == nullptr) return failNotFound(type.name, key.second);
  if (auto met = checkPreconditions(type.name, *old, options); !met)
    return tl::unexpected<Failure>(met.error());
  Json object = *old;
  if (type.name.plural == "namespaces" && type.name.group.empty())
    return removeNamespace(type, key, std::move(object), options);
  const bool deleting = findPath(object, {"metadata", "deletionTimestamp"}) != nullptr;
  const std::int64_t held = intAt(object, {"metadata", "deletionGracePeriodSeconds"}).value_or(0);
  std::optional<std::int64_t> grace;
  bool graceful = false;
  if (deleting && held > 0) {
    // Only a shorter time changes anything; if it is zero, the object is deleted below.
    if (!options.grace || *options.grace >= held) return std::pair(false, old);
    const auto until =
        base::parseTime(textAt(object, {"metadata", "deletionTimestamp"})).value_or(state_.clock());
    grace = std::max<std::int64_t>(*options.grace, 0);
    object["metadata"]["deletionTimestamp"] =
        base::formatTime(until - std::chrono::seconds(held) + std::chrono::seconds(*grace));
    object["metadata"]["deletionGracePeriodSeconds"] = *grace;
    graceful = true;
  } else if (!deleting) {
    grace = type.strategy->gracePeriod(object, options.grace);
    graceful = grace.has_value();
  }
  setPropagation(object, options.propagation);
  const bool pending = !listAt(object, {"metadata", "finalizers"}).empty();
  if (graceful && !deleting) markDeleting(object, state_.clock(), *grace);
  if (!graceful && pending) markDeleting(object, state_.clock(), 0);
  if (pending || (graceful && *grace > 0)) {
    if (options.dryRun || object == *old)
      return std::pair(false, std::make_shared<const Json>(std::move(object)));
    return std::pair(false, state_.store.put(type.table, key, std::move(object)));
  }
  if (options.dryRun) return std::pair(true, std::make_shared<const Json>(std::move(object)));
  // The real server first writes the deletion mark and then deletes, so watchers get two events.
  if (graceful && object != *old) state_.store.put(type.table, key, std::move(object));
  return std::pair(true, state_.store.erase(type.table, key));
}

Outcome<Answer> ObjectRemover::remove(const RequestInfo& info) {
  auto options = deleteOptions(info);
  if (!options) return tl::unexpected<Failure>(options.error());
  const ResourceType& type = *info.type;
  auto removed = removeObject(type, info.key(), *options);
  if (!removed) return tl::unexpected<Failure>(removed.error());
  const auto& [gone, object] = *removed;
  const bool accepted = !gone && options->cascadeAsked;
  if (gone && !type.strategy->returnsDeleted) {
    return Answer{200, successStatus(type.name, info.path.name, textAt(*object, {"metadata", "uid"}))};
  }
  return Answer{accepted ? 202 : 200, shown(type, *object)};
}

Outcome<Answer> ObjectRemover::removeCollection(const RequestInfo& info) {
  auto options = deleteOptions(info);
  if (!options) return tl::unexpected<Failure>(options.error());
  auto listed = reader_.list(info);
  if (!listed) return listed;
  for (auto& item : listed->body["items"]) {
    const ObjectKey key{textAt(item, {"metadata", "namespace"}), textAt(item, {"metadata", "name"})};
    // An object that is gone in the meantime counts as deleted.
    auto removed = removeObject(*info.type, key, *options);
    if (!removed && removed.error().code != 404) return tl::unexpected<Failure>(removed.error());
  }
  return listed;
}

}  // namespace trainyard::sim
