#include <fmt/format.h>

#include "sim/api/pods.h"
#include "sim/api/server_impl.h"

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

bool pretendsAnotherKind(const ResourceType& type, const Json& document) {
  const std::string kind = textAt(document, {"kind"});
  const std::string version = textAt(document, {"apiVersion"});
  if (type.custom()) return kind.empty() || version != type.apiVersion();
  return (!kind.empty() && kind != type.name.kind) || (!version.empty() && version != type.apiVersion());
}

tl::unexpected<Failure> failPatched(const std::string& problem) {
  Causes causes;
  causes.invalid("patch", problem);
  return failInvalid({"", "", "Status"}, "", causes);
}

Outcome<void> checkKind(const ResourceType& type, const Json& object) {
  const std::string kind = textAt(object, {"kind"});
  if (kind.empty()) return {};
  Causes causes;
  causes.invalid("kind", fmt::format("\"{}\": must be {}", kind, type.name.kind));
  return failInvalid({type.name.group, "", kind}, textAt(object, {"metadata", "name"}), causes);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace

Outcome<Json> ApiServer::Impl::parseBody(const RequestInfo& info,
                                         std::vector<std::string>& duplicates) const {
  const std::string type = info.contentType();
  const std::string& body = info.http->body;
  if (type == "application/yaml") {
    auto documents = parseYaml(body);
    if (!documents) return failBadRequest("error converting YAML to JSON: " + documents.error().message);
    return documents->empty() ? Json(nullptr) : documents->front();
  }
  if (!type.empty() && type != "application/json") {
    return failUnsupportedMediaType("application/json, application/yaml");
  }
  auto parsed = parseJson(body, info.strict ? &duplicates : nullptr);
  if (!parsed)
    return failBadRequest("couldn't get version/kind; json parse error: " + parsed.error().message);
  return *std::move(parsed);
}

Outcome<Json> ApiServer::Impl::decodeBody(const RequestInfo& info) const {
  std::vector<std::string> duplicates;
  auto document = parseBody(info, duplicates);
  if (!document) return document;
  std::vector<std::string> complaints;
  for (const auto& path : duplicates) complaints.push_back(fmt::format("duplicate field \"{}\"", path));
  return decode(info, *std::move(document), false, std::move(complaints));
}

Outcome<Json> ApiServer::Impl::decodeCustom(const RequestInfo& info, Json document,
                                            std::vector<std::string>& complaints) const {
  std::vector<std::string> dropped;
  pruneCustom(*info.type, document, dropped);
  std::vector<std::string> unknownMeta;
  auto meta =
      roundTrip(registry->structType("ObjectMeta"), document.value("metadata", Json::object()), unknownMeta);
  if (!meta) return meta;
  document["metadata"] = *std::move(meta);
  for (const auto& path : unknownMeta)
    complaints.push_back(fmt::format("unknown field \"metadata.{}\"", path));
  for (const auto& path : dropped) complaints.push_back(fmt::format("unknown field \"{}\"", path));
  return document;
}

Outcome<Json> ApiServer::Impl::decode(const RequestInfo& info, Json document, bool patched,
                                      std::vector<std::string> complaints) const {
  const ResourceType& type = *info.type;
  if (!document.is_object() || pretendsAnotherKind(type, document)) {
    return failBadRequest(
        fmt::format("the object provided is unrecognized (must be of type {})", type.name.kind));
  }
  // Not kept: field ownership is needed only for apply patches, which are not supported.
  if (const auto meta = document.find("metadata"); meta != document.end() && meta->is_object()) {
    meta->erase("managedFields");
    meta->erase("selfLink");
  }
  Outcome<Json> object = Json();
  if (type.custom()) {
    object = decodeCustom(info, std::move(document), complaints);
  } else {
    document.erase("apiVersion");
    document.erase("kind");
    std::vector<std::string> unknown;
    object = roundTrip(*type.type, document, unknown);
    for (const auto& path : unknown) complaints.push_back(fmt::format("unknown field \"{}\"", path));
  }
  if (!object) {
    if (patched) return failPatched(object.error().message);
    return object;
  }
  if (info.strict && !complaints.empty()) {
    const std::string text = "strict decoding error: " + joined(complaints);
    if (patched) return failPatched(text);
    return failBadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", type.name.kind,
                                      type.version, type.name.kind, text));
  }
  Json stored = type.toStored != nullptr ? type.toStored(*object) : *std::move(object);
  stored.erase("apiVersion");
  // A wrong kind stays, so that validation finds it.
  if (textAt(stored, {"kind"}) == type.name.kind) stored.erase("kind");
  type.strategy->defaults(stored);
  return stored;
}

Outcome<void> ApiServer::Impl::namespaceAllows(const RequestInfo& info, const std::string& name) const {
  if (!info.type->namespaced) return {};
  const ObjectPtr space = store.get("namespaces", {"", info.path.space});
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

Outcome<Answer> ApiServer::Impl::create(const RequestInfo& info) {
  auto object = decodeBody(info);
  if (!object) return tl::unexpected<Failure>(object.error());
  return createObject(info, *std::move(object));
}

Outcome<Answer> ApiServer::Impl::createObject(const RequestInfo& info, Json object) {
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
    name = base.substr(0, kLongestGeneratedBase) + randomSuffix();
    object["metadata"]["name"] = name;
    if (store.get(type.table, {type.namespaced ? info.path.space : "", name}) == nullptr) break;
  }
  if (auto allowed = namespaceAllows(info, name); !allowed) return tl::unexpected<Failure>(allowed.error());
  object["metadata"]["uid"] = newUid();
  object["metadata"]["creationTimestamp"] = base::formatTime(clock());
  if (auto admitted = type.strategy->admit(view(), object, nullptr); !admitted) {
    return tl::unexpected<Failure>(admitted.error());
  }
  type.strategy->prepareCreate(object, clock());
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
  if (store.get(type.table, key) != nullptr) return failAlreadyExists(type.name, name);
  if (info.dryRun) return Answer{201, shown(type, object)};
  return Answer{201, shown(type, *store.put(type.table, key, std::move(object)))};
}

Outcome<Answer> ApiServer::Impl::replace(const RequestInfo& info) {
  auto object = decodeBody(info);
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
  if (store.get(info.type->table, info.key()) == nullptr && info.type->strategy->createOnUpdate &&
      info.part == Part::kMain) {
    return createObject(info, *std::move(object));
  }
  const std::string uid = textAt(*object, {"metadata", "uid"});
  return update(info, uid, [&](const Json&) -> Outcome<Json> { return *std::move(object); });
}

Outcome<Answer> ApiServer::Impl::update(const RequestInfo& info, const std::string& expectedUid,
                                        const Change& change) {
  const ResourceType& type = *info.type;
  const Strategy& strategy = *type.strategy;
  const ObjectKey key = info.key();
  const ObjectPtr old = store.get(type.table, key);
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
  if (auto admitted = strategy.admit(view(), object, old.get()); !admitted && info.part == Part::kMain) {
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
    const ObjectPtr last = store.erase(type.table, key);
    object["metadata"]["resourceVersion"] = textAt(*last, {"metadata", "resourceVersion"});
    return Answer{200, shown(type, object)};
  }
  if (object == *old || info.dryRun) return Answer{200, shown(type, object)};
  return Answer{200, shown(type, *store.put(type.table, key, std::move(object)))};
}

Outcome<Answer> ApiServer::Impl::bind(const RequestInfo& info) {
  std::vector<std::string> duplicates;
  auto document = parseBody(info, duplicates);
  if (!document) return tl::unexpected<Failure>(document.error());
  document->erase("apiVersion");
  document->erase("kind");
  std::vector<std::string> unknown;
  auto binding = roundTrip(registry->structType("Binding"), *document, unknown);
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
  const ObjectPtr old = store.get("pods", info.key());
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
  assignNode(pod, *binding, node, clock());
  if (const ObjectPtr found = store.get("nodes", {"", node}); found != nullptr) copyTopology(*found, pod);
  if (!info.dryRun) store.put("pods", info.key(), std::move(pod));
  return Answer{201,
                {{"kind", "Status"},
                 {"apiVersion", "v1"},
                 {"metadata", Json::object()},
                 {"status", "Success"},
                 {"code", 201}}};
}

Outcome<Answer> ApiServer::Impl::finalizeNamespace(const RequestInfo& info) {
  std::vector<std::string> duplicates;
  auto document = parseBody(info, duplicates);
  if (!document) return tl::unexpected<Failure>(document.error());
  auto object = decode(info, *std::move(document), false, {});
  if (!object) return tl::unexpected<Failure>(object.error());
  const ObjectPtr old = store.get("namespaces", info.key());
  if (old == nullptr) return failNotFound(info.type->name, info.path.name);
  Json space = *old;
  space["spec"]["finalizers"] = listAt(*object, {"spec", "finalizers"});
  const bool done = space["spec"]["finalizers"].empty() &&
                    listAt(space, {"metadata", "finalizers"}).empty() &&
                    findPath(space, {"metadata", "deletionTimestamp"}) != nullptr;
  if (space["spec"]["finalizers"].empty()) space["spec"].erase("finalizers");
  if (done) return Answer{200, shown(*info.type, *store.erase("namespaces", info.key()))};
  return Answer{200, shown(*info.type, *store.put("namespaces", info.key(), std::move(space)))};
}

}  // namespace trainyard::sim
