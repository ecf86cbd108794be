#include "sim/api/scale.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/api/object_patcher.h"

namespace trainyard::sim {
namespace {

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

Json scaleOf(const ResourceType& type, const Json& object) {
  Json scale = {{"kind", "Scale"},
                {"apiVersion", "autoscaling/v1"},
                {"spec", Json::object()},
                {"status", {{"replicas", 0}}}};
  for (const char* field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    copyMember(scale["metadata"], object.at("metadata"), field);
  }
  const auto wanted = numberAt(object, scalePath(type, "specReplicasPath"));
  if (wanted != 0) scale["spec"]["replicas"] = wanted;
  scale["status"]["replicas"] = numberAt(object, scalePath(type, "statusReplicasPath"));
  const Json* selector = follow(object, scalePath(type, "labelSelectorPath"));
  if (selector != nullptr && selector->is_string() && !selector->get<std::string>().empty())
    scale["status"]["selector"] = *selector;
  return scale;
}

}  // namespace

Outcome<Json> readScale(const ResourceType& type, const Json& object) {
  if (follow(object, scalePath(type, "specReplicasPath")) != nullptr) return scaleOf(type, object);
  const std::string problem =
      fmt::format("the spec replicas field \"{}\" does not exist",
                  textAt(type.definition, {"subresources", "scale", "specReplicasPath"}));
  const Json details = {{"causes", {{{"message", problem}}}}};
  return tl::unexpected<Failure>(
      Failure{500, "InternalError", "Internal error occurred: " + problem, details});
}

Outcome<Answer> ScaleWriter::write(const RequestInfo& info) {
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
      : bodies_.parse(info, duplicates);
  if (!body) return tl::unexpected<Failure>(body.error());
  std::string uid;
  if (!isPatch) uid = textAt(*body, {"metadata", "uid"});
  auto updated = writer_.update(info, uid, [&](const Json& old) -> Outcome<Json> {
    Json wanted = *body;
    if (isPatch) {
      auto patched = applyPatch(info, scaleOf(*info.type, old), *body);
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
  return Answer{updated->status, scaleOf(*info.type, updated->body)};
}

}  // namespace trainyard::sim
