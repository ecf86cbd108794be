#include "sim/api/object_writer.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "sim/api/watch.h"

namespace trainyard::sim {
namespace {

constexpr std::size_t kLongestGeneratedBase = 58;

// Removes the fields of a new object that only the server may set.
void wipeSystemFields(Json& object) {
  Json& meta = object["metadata"];
  for (const char* field :
       {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}) {
    meta.erase(field);
  }
}

// Returns true if nothing delays the deletion: the update that removes the last finalizer deletes the object.
bool deletesObject(const Json& old, const Json& object) {
  if (findPath(old, {"metadata", "deletionTimestamp"}) == nullptr) return false;
  if (!listAt(object, {"metadata", "finalizers"}).empty()) return false;
  return intAt(old, {"metadata", "deletionGracePeriodSeconds"}).value_or(0) == 0;
}

// The rules for metadata on update that apply to every strategy.
void keepSystemFields(const Json& old, Json& object) {
  Json& meta = object["metadata"];
  const Json& before = old.at("metadata");
  if (textAt(meta, {"uid"}).empty()) copyMember(meta, before, "uid");
  copyMember(meta, before, "creationTimestamp");
  if (before.contains("deletionTimestamp")) copyMember(meta, before, "deletionTimestamp");
  if (!meta.contains("deletionGracePeriodSeconds")) copyMember(meta, before, "deletionGracePeriodSeconds");
}

Outcome<void> checkKind(const ResourceType& type, const Json& object) {
  const std::string kind = textAt(object, {"kind"});
  if (kind.empty()) return {};
  Causes causes;
  causes.invalid("kind", fmt::format("\"{}\": must be {}", kind, type.name.kind));
  return failInvalid({type.name.group, "", kind}, textAt(object, {"metadata", "name"}), causes);
}

}  // namespace

Outcome<void> ObjectWriter::namespaceAllows(const RequestInfo& info, const std::string& name) const {
  if (!info.type->namespaced) return {};
  const ObjectPtr space = state_.store.get("namespaces", {"", info.path.space});
  if (space == nullptr) return failNotFound({"", "namespaces", "Namespace"}, info.path.space);
  if (findPath(*space, {"metadata", "deletionTimestamp"}) == nullptr) return {};
  auto failure =
      failForbidden(info.type->name, name,
                    fmt::format("unable to create new content in namespace {} because it is being terminated",
                                info.path.space));
  failure.value().details["causes"] = {
      {{"reason", "NamespaceTerminating"},
       {"message", fmt::format("namespace {} is being terminated", info.path.space)},
       {"field", "metadata.namespace"}}};
  return failure;
}

Outcome<Answer> ObjectWriter::create(const RequestInfo& info) {
  auto object = bodies_.decodeBody(info);
  if (!object) return tl::unexpected<Failure>(object.error());
  return createObject(info, *std::move(object));
}

Outcome<Answer> ObjectWriter::createObject(const RequestInfo& info, Json object) {
  const ResourceType& type = *info.type;
  Json& meta = object["metadata"];
  const std::string space = textAt(meta, {"namespace"});
  if (type.namespaced && !space.empty() && space != info.path.space) {
    return failBadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  if (type.namespaced) meta["namespace"] = info.path.space;
  wipeSystemFields(object);
  std::string name = textAt(object, {"metadata", "name"});
  const std::string base = textAt(object, {"metadata", "generateName"});
  const bool generated = name.empty() && !base.empty();
  // A generated name that is taken is drawn again, as the real server does since 1.30.
  for (int attempt = 0; generated && attempt < 8; ++attempt) {
    name = base.substr(0, kLongestGeneratedBase) + state_.randomSuffix();
    object["metadata"]["name"] = name;
    if (state_.store.get(type.table, {type.namespaced ? info.path.space : "", name}) == nullptr) break;
  }
  if (auto allowed = namespaceAllows(info, name); !allowed) return tl::unexpected<Failure>(allowed.error());
  object["metadata"]["uid"] = state_.newUid();
  object["metadata"]["creationTimestamp"] = base::formatTime(state_.clock());
  if (auto admitted = type.strategy->admit(state_.view(), object, nullptr); !admitted) {
    return tl::unexpected<Failure>(admitted.error());
  }
  type.strategy->prepareCreate(object, state_.clock());
  if (auto right = checkKind(type, object); !right) return tl::unexpected<Failure>(right.error());
  Causes causes;
  type.strategy->validate(object, causes);
  validateMeta(object, type.namespaced, *type.strategy, causes);
  if (!causes.empty()) return failInvalid(type.checkedName, name, causes);
  const ObjectKey key{type.namespaced ? info.path.space : "", name};
  if (!textAt(object, {"metadata", "resourceVersion"}).empty()) {
    return tl::unexpected<Failure>(
        Failure{500, "", "resourceVersion should not be set on objects to be created", Json::object()});
  }
  if (state_.store.get(type.table, key) != nullptr) return failAlreadyExists(type.name, name);
  if (info.dryRun) return Answer{201, shown(type, object)};
  return Answer{201, shown(type, *state_.store.put(type.table, key, std::move(object)))};
}

Outcome<Answer> ObjectWriter::replace(const RequestInfo& info) {
  auto object = bodies_.decodeBody(info);
  if (!object) return tl::unexpected<Failure>(object.error());
  const std::string name = textAt(*object, {"metadata", "name"});
  if (name.empty()) return failBadRequest("name must be provided");
  if (name != info.path.name) {
    return failBadRequest(fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                                      name, info.path.name));
  }
  const std::string space = textAt(*object, {"metadata", "namespace"});
  if (info.type->namespaced && !space.empty() && space != info.path.space) {
    return failBadRequest(
        fmt::format("the namespace of the object ({}) does not match the namespace on the URL ({})", space,
                    info.path.space));
  }
  if (state_.store.get(info.type->table, info.key()) == nullptr && info.type->strategy->createOnUpdate &&
      info.part == Part::kMain) {
    return createObject(info, *std::move(object));
  }
  const std::string uid = textAt(*object, {"metadata", "uid"});
  return update(info, uid, [&](const Json&) -> Outcome<Json> { return *std::move(object); });
}

Outcome<Answer> ObjectWriter::update(const RequestInfo& info, const std::string& expectedUid,
                                     const Change& change) {
  const ResourceType& type = *info.type;
  const Strategy& strategy = *type.strategy;
  const ObjectKey key = info.key();
  const ObjectPtr old = state_.store.get(type.table, key);
  if (old == nullptr) return failNotFound(type.name, info.path.name);
  if (!expectedUid.empty() && expectedUid != textAt(*old, {"metadata", "uid"})) {
    return failConflict(type.name, key.second,
                        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                                    expectedUid, textAt(*old, {"metadata", "uid"})));
  }
  auto changed = change(*old);
  if (!changed) return tl::unexpected<Failure>(changed.error());
  Json object = *std::move(changed);
  if (type.namespaced && textAt(object, {"metadata", "namespace"}).empty())
    object["metadata"]["namespace"] = key.first;
  if (auto admitted = strategy.admit(state_.view(), object, old.get());
      !admitted && info.part == Part::kMain) {
    return tl::unexpected<Failure>(admitted.error());
  }
  const std::string version = textAt(object, {"metadata", "resourceVersion"});
  if (version.empty() && !strategy.unconditionalUpdate) {
    Causes causes;
    causes.invalid("metadata.resourceVersion", "0: must be specified for an update");
    return failInvalid({type.name.group, "", type.name.plural}, key.second, causes);
  }
  if (!version.empty() && version != textAt(*old, {"metadata", "resourceVersion"})) {
    return failConflict(type.name, key.second, std::string(kModified));
  }
  if (auto right = checkKind(type, object); !right) return tl::unexpected<Failure>(right.error());
  copyMember(object["metadata"], old->at("metadata"), "generation");
  strategy.prepareUpdate(*old, object, info.part);
  keepSystemFields(*old, object);
  Causes causes;
  validateMetaUpdate(*old, object, strategy, causes);
  strategy.validateUpdate(*old, object, info.part, causes);
  if (!causes.empty()) return failInvalid(type.checkedName, key.second, causes);
  copyMember(object["metadata"], old->at("metadata"), "resourceVersion");
  if (deletesObject(*old, object)) {
    if (info.dryRun) return Answer{200, shown(type, object)};
    // Watchers get the object as it was last stored; the client gets what it wrote.
    const ObjectPtr last = state_.store.erase(type.table, key);
    object["metadata"]["resourceVersion"] = textAt(*last, {"metadata", "resourceVersion"});
    return Answer{200, shown(type, object)};
  }
  if (object == *old || info.dryRun) return Answer{200, shown(type, object)};
  return Answer{200, shown(type, *state_.store.put(type.table, key, std::move(object)))};
}

}  // namespace trainyard::sim
