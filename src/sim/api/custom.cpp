#include <fmt/format.h>

#include "sim/api/paths.h"
#include "sim/api/registry.h"
#include "sim/api/schema.h"
#include "sim/api/server_impl.h"

namespace trainyard::sim {
namespace {

class CustomStrategy final : public Strategy {
 public:
  explicit CustomStrategy(Json definition) : definition_(std::move(definition)) {
    unconditionalUpdate = false;
    builtin = false;
    hasRules_ = dumpJson(schema()).find("\"x-kubernetes-validations\"") != std::string::npos;
  }

  void defaults(Json& object) const override { applySchemaDefaults(schema(), object); }

  void prepareCreate(Json& object, base::WallTime) const override {
    if (hasStatus()) object.erase("status");
    object["metadata"]["generation"] = 1;
  }

  void validate(const Json& object, Causes& causes) const override { check(object, nullptr, causes); }

  void prepareUpdate(const Json& old, Json& object, Part part) const override {
    if (part == Part::kStatus) {
      // Only the status is stored.
      const Json status = object.value("status", Json(nullptr));
      object = old;
      object.erase("status");
      if (!status.is_null()) object["status"] = status;
      return;
    }
    if (hasStatus()) copyMember(object, old, "status");
    Json before = old;
    Json after = object;
    before.erase("metadata");
    after.erase("metadata");
    if (before != after)
      object["metadata"]["generation"] = intAt(old, {"metadata", "generation"}).value_or(0) + 1;
  }

  void validateUpdate(const Json& old, const Json& object, Part, Causes& causes) const override {
    check(object, &old, causes);
  }

 private:
  void check(const Json& object, const Json* old, Causes& causes) const {
    validateSchema(schema(), object, old, causes);
    validateScale(object, causes);
    noteUncheckedRules(causes);
  }

  // Complains if a scale path leads to a value that is not a replica count.
  void validateScale(const Json& object, Causes& causes) const {
    for (const char* which : {"specReplicasPath", "statusReplicasPath"}) {
      const std::string path = textAt(definition_, {"subresources", "scale", which});
      if (path.empty()) continue;
      const Json* at = &object;
      for (std::size_t start = 1; at != nullptr && start < path.size();) {
        const auto end = std::min(path.find('.', start), path.size());
        if (!at->is_object()) {
          causes.invalid(path, "accessor error");
          at = nullptr;
          break;
        }
        at = find(*at, path.substr(start, end - start));
        start = end + 1;
      }
      if (at == nullptr) continue;
      if (!at->is_number_integer()) {
        causes.invalid(path, "accessor error: not an integer");
      } else if (at->get<std::int64_t>() < 0) {
        causes.invalid(path, "should be a non-negative integer");
      } else if (at->get<std::int64_t>() > INT32_MAX) {
        causes.invalid(path, "should be less than or equal to 2147483647");
      }
    }
  }

  // Rules are not evaluated on an object with a wrong shape, and the real server reports that.
  void noteUncheckedRules(Causes& causes) const {
    if (!hasRules_) return;
    for (const auto& cause : causes.list()) {
      for (const char* blocking : {"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong",
                                   "FieldValueTooMany", "FieldValueTypeInvalid"}) {
        if (cause.reason != blocking) continue;
        causes.invalid("<nil>",
                       "some validation rules were not checked because the object was invalid; correct the "
                       "existing errors to complete validation");
        return;
      }
    }
  }

  [[nodiscard]] bool hasStatus() const {
    return findPath(definition_, {"subresources", "status"}) != nullptr;
  }
  [[nodiscard]] const Json& schema() const { return objectAt(definition_, {"schema", "openAPIV3Schema"}); }

  Json definition_;
  bool hasRules_ = false;
};

// Splits ".spec.elastic.replicas" into the parts of a path.
std::vector<std::string> scalePath(const ResourceType& type, const char* which) {
  const std::string text = textAt(type.definition, {"subresources", "scale", which});
  std::vector<std::string> parts;
  std::size_t start = 1;
  while (start < text.size()) {
    const auto end = std::min(text.find('.', start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

const Json* follow(const Json& object, const std::vector<std::string>& path) {
  const Json* at = path.empty() ? nullptr : &object;
  for (const auto& part : path) {
    if (at != nullptr) at = find(*at, part);
  }
  return at;
}

std::int64_t numberAt(const Json& object, const std::vector<std::string>& path) {
  const Json* value = follow(object, path);
  return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : 0;
}

}  // namespace

void pruneCustom(const ResourceType& type, Json& object, std::vector<std::string>& dropped) {
  pruneUnknown(type.schema(), object, dropped);
}

Json ApiServer::Impl::scaleOf(const RequestInfo& info, const Json& object) const {
  Json scale = {{"kind", "Scale"},
                {"apiVersion", "autoscaling/v1"},
                {"spec", Json::object()},
                {"status", {{"replicas", 0}}}};
  for (const char* field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    copyMember(scale["metadata"], object.at("metadata"), field);
  }
  const auto wanted = numberAt(object, scalePath(*info.type, "specReplicasPath"));
  if (wanted != 0) scale["spec"]["replicas"] = wanted;
  scale["status"]["replicas"] = numberAt(object, scalePath(*info.type, "statusReplicasPath"));
  const Json* selector = follow(object, scalePath(*info.type, "labelSelectorPath"));
  if (selector != nullptr && selector->is_string() && !selector->get<std::string>().empty())
    scale["status"]["selector"] = *selector;
  return scale;
}

Outcome<Json> ApiServer::Impl::readScale(const RequestInfo& info, const Json& object) const {
  if (follow(object, scalePath(*info.type, "specReplicasPath")) != nullptr) return scaleOf(info, object);
  const std::string problem =
      fmt::format("the spec replicas field \"{}\" does not exist",
                  textAt(info.type->definition, {"subresources", "scale", "specReplicasPath"}));
  const Json details = {{"causes", {{{"message", problem}}}}};
  return tl::unexpected<Failure>(
      Failure{500, "InternalError", "Internal error occurred: " + problem, details});
}

Outcome<Answer> ApiServer::Impl::scale(const RequestInfo& info) {
  std::vector<std::string> duplicates;
  const bool isPatch = info.http->method == net::Method::kPatch;
  if (isPatch && info.contentType() == "application/strategic-merge-patch+json") {
    return tl::unexpected<Failure>(Failure{415, "UnsupportedMediaType",
                                           "strategic merge patches are not supported for custom resources",
                                           Json::object()});
  }
  auto body = isPatch ? [&]() -> Outcome<Json> {
    auto parsed = parseJson(info.http->body);
    if (!parsed) return failBadRequest("error decoding patch: " + parsed.error().message);
    return *std::move(parsed);
  }()
      : parseBody(info, duplicates);
  if (!body) return tl::unexpected<Failure>(body.error());
  std::string uid;
  if (!isPatch) uid = textAt(*body, {"metadata", "uid"});
  auto updated = update(info, uid, [&](const Json& old) -> Outcome<Json> {
    Json wanted = *body;
    if (isPatch) {
      auto patched = applyPatch(info, scaleOf(info, old), *body);
      if (!patched) return patched;
      wanted = *std::move(patched);
    }
    const auto replicas = findPath(wanted, {"spec", "replicas"});
    if (replicas != nullptr && !replicas->is_number_integer()) {
      const std::string problem = "json: cannot unmarshal into field spec.replicas of type int32";
      if (!isPatch) return failBadRequest(problem);
      Causes causes;
      causes.invalid("patch", problem);
      return failInvalid({"", "", "Status"}, "", causes);
    }
    const std::string name = textAt(wanted, {"metadata", "name"});
    if (name != info.path.name)
      return failBadRequest(fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                                        name, info.path.name));
    Json object = old;
    Json* at = &object;
    for (const auto& part : scalePath(*info.type, "specReplicasPath")) at = &(*at)[part];
    *at = replicas == nullptr ? Json(0) : *replicas;
    copyMember(object["metadata"], objectAt(wanted, {"metadata"}), "resourceVersion");
    if (isPatch) return object;
    if (textAt(wanted, {"metadata", "resourceVersion"}).empty())
      copyMember(object["metadata"], old.at("metadata"), "resourceVersion");
    return object;
  });
  if (!updated) return updated;
  return Answer{updated->status, scaleOf(info, updated->body)};
}

std::unique_ptr<Strategy> makeCustomStrategy(Json definition) {
  return std::make_unique<CustomStrategy>(std::move(definition));
}

}  // namespace trainyard::sim
