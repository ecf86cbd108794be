#include "sim/api/body_decoder.h"

#include <utility>

#include <fmt/format.h>

namespace trainyard::sim {
namespace {

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

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace

Outcome<Json> BodyDecoder::parse(const RequestInfo& info, std::vector<std::string>& duplicates) const {
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

Outcome<Json> BodyDecoder::decodeBody(const RequestInfo& info) const {
  std::vector<std::string> duplicates;
  auto document = parse(info, duplicates);
  if (!document) return document;
  std::vector<std::string> complaints;
  for (const auto& path : duplicates) complaints.push_back(fmt::format("duplicate field \"{}\"", path));
  return decode(info, *std::move(document), false, std::move(complaints));
}

Outcome<Json> BodyDecoder::decodeCustom(const RequestInfo& info, Json document,
                                        std::vector<std::string>& complaints) const {
  std::vector<std::string> dropped;
  pruneCustom(*info.type, document, dropped);
  std::vector<std::string> unknownMeta;
  auto meta =
      roundTrip(registry_.structType("ObjectMeta"), document.value("metadata", Json::object()), unknownMeta);
  if (!meta) return meta;
  document["metadata"] = *std::move(meta);
  for (const auto& path : unknownMeta)
    complaints.push_back(fmt::format("unknown field \"metadata.{}\"", path));
  for (const auto& path : dropped) complaints.push_back(fmt::format("unknown field \"{}\"", path));
  return document;
}

Outcome<Json> BodyDecoder::decode(const RequestInfo& info, Json document, bool patched,
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

}  // namespace trainyard::sim
