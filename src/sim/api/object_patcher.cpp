#include "sim/api/object_patcher.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/api/strategic_merge.h"
#include "sim/api/watch.h"

namespace trainyard::sim {
namespace {

constexpr const char* kJsonPatch = "application/json-patch+json";
constexpr const char* kMergePatch = "application/merge-patch+json";
constexpr const char* kStrategicPatch = "application/strategic-merge-patch+json";
constexpr std::size_t kMaxOperations = 10'000;

tl::unexpected<Failure> failUnprocessable(std::string message) {
  return tl::unexpected<Failure>(Failure{422, "Invalid", std::move(message), Json::object()});
}

Outcome<Json> applyJsonPatch(const Json& object, const Json& operations) {
  if (!operations.is_array())
    return failBadRequest("error decoding patch: json: cannot unmarshal into a list of operations");
  for (const auto& operation : operations) {
    if (!operation.is_object()) return failBadRequest("error decoding patch: an operation is an object");
  }
  if (operations.size() > kMaxOperations) {
    return tl::unexpected<Failure>(Failure{
        413, "RequestEntityTooLarge",
        fmt::format("The allowed maximum operations in a JSON patch is {}", kMaxOperations), Json::object()});
  }
  try {
    return object.patch(operations);
  } catch (const Json::exception& problem) {
    return failUnprocessable(
        fmt::format("the server rejected our request due to an error in our request: {}", problem.what()));
  }
}

// A patch must not change the name or the namespace in the URL.
Outcome<void> sameIdentity(const RequestInfo& info, const Json& object) {
  const std::string name = textAt(object, {"metadata", "name"});
  if (name != info.path.name) {
    return failBadRequest(fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                                      name, info.path.name));
  }
  const std::string space = textAt(object, {"metadata", "namespace"});
  if (info.type->namespaced && space != info.path.space) {
    return failBadRequest(
        fmt::format("the namespace of the object ({}) does not match the namespace on the URL ({})", space,
                    info.path.space));
  }
  return {};
}

}  // namespace

Outcome<Json> applyPatch(const RequestInfo& info, const Json& old, const Json& patchBody) {
  const std::string contentType = info.contentType();
  if (contentType == kJsonPatch) return applyJsonPatch(old, patchBody);
  if (!patchBody.is_object()) return failBadRequest("error decoding patch: the patch is no object");
  if (contentType == kStrategicPatch) return strategicMerge(*info.type->type, old, patchBody);
  Json merged = old;
  merged.merge_patch(patchBody);
  return merged;
}

Outcome<Answer> ObjectPatcher::patch(const RequestInfo& info) {
  const std::string contentType = info.contentType();
  if (contentType == "application/apply-patch+yaml") {
    return tl::unexpected<Failure>(Failure{415, "UnsupportedMediaType",
                                           "apply patches are not supported by this in-memory server",
                                           Json::object()});
  }
  const bool known =
      contentType == kJsonPatch || contentType == kMergePatch || contentType == kStrategicPatch;
  if (!known || (contentType == kStrategicPatch && info.type->custom())) {
    return tl::unexpected<Failure>(
        Failure{415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: "
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
                Json::object()});
  }
  std::vector<std::string> duplicates;
  auto body = parseJson(info.http->body, info.strict ? &duplicates : nullptr);
  std::vector<std::string> complaints;
  for (const auto& path : duplicates) complaints.push_back(fmt::format("duplicate field \"{}\"", path));
  return writer_.update(info, "", [&](const Json& old) -> Outcome<Json> {
    if (!body) return failBadRequest("error decoding patch: " + body.error().message);
    auto patched = applyPatch(info, shown(*info.type, old), *body);
    if (!patched) return patched;
    auto object = bodies_.decode(info, *std::move(patched), true, complaints);
    if (!object) return object;
    if (auto same = sameIdentity(info, *object); !same) return tl::unexpected<Failure>(same.error());
    return object;
  });
}

}  // namespace trainyard::sim
