#include "sim/api/status.h"

#include <set>

#include <fmt/format.h>

namespace trainyard::sim {
namespace {

tl::unexpected<Failure> make(int code, std::string reason, std::string message, Json details) {
  return tl::unexpected<Failure>(Failure{code, std::move(reason), std::move(message), std::move(details)});
}

std::string qualified(const ResourceName& resource) {
  return resource.group.empty() ? resource.plural : resource.plural + "." + resource.group;
}

Json detailsOf(const ResourceName& resource, const std::string& name, const std::string& kind) {
  Json details = {{"kind", kind}};
  if (!name.empty()) details["name"] = name;
  if (!resource.group.empty()) details["group"] = resource.group;
  return details;
}

}  // namespace

void Causes::invalid(std::string field, const std::string& detail) {
  list_.push_back({"FieldValueInvalid", std::move(field), "Invalid value: " + detail});
}
void Causes::required(std::string field, const std::string& detail) {
  list_.push_back({"FieldValueRequired", std::move(field),
                   detail.empty() ? "Required value" : "Required value: " + detail});
}
void Causes::forbidden(std::string field, const std::string& detail) {
  list_.push_back({"FieldValueForbidden", std::move(field), "Forbidden: " + detail});
}
void Causes::duplicate(std::string field, const std::string& value) {
  list_.push_back({"FieldValueDuplicate", std::move(field), fmt::format("Duplicate value: \"{}\"", value)});
}
void Causes::notSupported(std::string field, const std::string& value) {
  list_.push_back(
      {"FieldValueNotSupported", std::move(field), fmt::format("Unsupported value: \"{}\"", value)});
}
void Causes::tooLong(std::string field, const std::string& detail) {
  list_.push_back({"FieldValueTooLong", std::move(field), "Too long: " + detail});
}
void Causes::tooMany(std::string field, const std::string& detail) {
  list_.push_back({"FieldValueTooMany", std::move(field), "Too many: " + detail});
}
void Causes::typeInvalid(std::string field, const std::string& detail) {
  list_.push_back({"FieldValueTypeInvalid", std::move(field), "Invalid value: " + detail});
}
void Causes::notFound(std::string field, const std::string& value) {
  list_.push_back({"FieldValueNotFound", std::move(field), fmt::format("Not found: \"{}\"", value)});
}

tl::unexpected<Failure> failBadRequest(std::string message) {
  return make(400, "BadRequest", std::move(message), nullptr);
}

tl::unexpected<Failure> failNotFound(const ResourceName& resource, const std::string& name) {
  return make(404, "NotFound", fmt::format("{} \"{}\" not found", qualified(resource), name),
              detailsOf(resource, name, resource.plural));
}

tl::unexpected<Failure> failUnknownPath() {
  return make(404, "NotFound", "the server could not find the requested resource", Json::object());
}

tl::unexpected<Failure> failPageNotFound() { return make(404, "", "404 page not found\n", "plain"); }

tl::unexpected<Failure> failAlreadyExists(const ResourceName& resource, const std::string& name) {
  return make(409, "AlreadyExists", fmt::format("{} \"{}\" already exists", qualified(resource), name),
              detailsOf(resource, name, resource.plural));
}

tl::unexpected<Failure> failConflict(const ResourceName& resource, const std::string& name,
                                     const std::string& detail) {
  return make(
      409, "Conflict",
      fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", qualified(resource), name, detail),
      detailsOf(resource, name, resource.plural));
}

tl::unexpected<Failure> failForbidden(const ResourceName& resource, const std::string& name,
                                      const std::string& detail) {
  const std::string shown = name.empty() ? "" : fmt::format(" \"{}\"", name);
  return make(403, "Forbidden", fmt::format("{}{} is forbidden: {}", qualified(resource), shown, detail),
              detailsOf(resource, name, resource.plural));
}

tl::unexpected<Failure> failInvalid(const ResourceName& resource, const std::string& name,
                                    const Causes& causes) {
  Json details = detailsOf(resource, name, resource.kind);
  std::string joined;
  std::set<std::string> lines;
  for (const auto& cause : causes.list()) {
    const std::string line = cause.field + ": " + cause.message;
    if (!lines.insert(line).second) continue;
    details["causes"].push_back(
        {{"reason", cause.reason}, {"message", cause.message}, {"field", cause.field}});
    joined += (joined.empty() ? "" : ", ") + line;
  }
  if (lines.size() > 1) joined = "[" + joined + "]";
  const std::string kind = resource.group.empty() ? resource.kind : resource.kind + "." + resource.group;
  return make(422, "Invalid", fmt::format("{} \"{}\" is invalid: {}", kind, name, joined),
              std::move(details));
}

tl::unexpected<Failure> failExpired(std::string message) {
  return make(410, "Expired", std::move(message), nullptr);
}

tl::unexpected<Failure> failMethodNotAllowed(const ResourceName& resource, const std::string& verb) {
  if (resource.plural.empty()) {
    return make(405, "MethodNotAllowed", "the server does not allow this method on the requested resource",
                Json::object());
  }
  return make(405, "MethodNotAllowed",
              fmt::format("{} is not supported on resources of kind \"{}\"", verb, qualified(resource)),
              detailsOf(resource, "", resource.plural));
}

tl::unexpected<Failure> failUnsupportedMediaType(const std::string& allowed) {
  return make(415, "UnsupportedMediaType",
              "the body of the request was in an unknown format - accepted media types include: " + allowed,
              Json::object());
}

Json statusObject(const Failure& failure) {
  Json status = {{"kind", "Status"},    {"apiVersion", "v1"},         {"metadata", Json::object()},
                 {"status", "Failure"}, {"message", failure.message}, {"code", failure.code}};
  if (!failure.reason.empty()) status["reason"] = failure.reason;
  if (!failure.details.is_null()) status["details"] = failure.details;
  return status;
}

Json successStatus(const ResourceName& resource, const std::string& name, const std::string& uid) {
  Json details = detailsOf(resource, name, resource.plural);
  if (!uid.empty()) details["uid"] = uid;
  return {{"kind", "Status"},
          {"apiVersion", "v1"},
          {"metadata", Json::object()},
          {"status", "Success"},
          {"details", std::move(details)}};
}

}  // namespace trainyard::sim
