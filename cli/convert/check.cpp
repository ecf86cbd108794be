#include "cli/convert/check.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/plain_text.h"
#include "codec/job.h"
#include "codec/status.h"
#include "sim/api/server.h"
#include "sim/cluster/crds.h"

namespace trainyard::cli {
namespace {

using SortedJson = nlohmann::json;

constexpr const char* kNamespace = "default";

// Gives the same answers as `kubectl apply --dry-run=server --validate=strict`.
std::string refusalOf(const SortedJson& job) {
  static const auto types = sim::ApiServer::readTypes(sim::clusterCrds());
  if (!types) return types.error().message;
  const auto server = sim::ApiServer::create({.types = *types}, [] { return base::WallTime(); });
  if (!server) return server.error().message;
  const std::string space = fmt::format(R"({{"metadata":{{"name":"{}"}}}})", kNamespace);
  (void)(*server)->handle(
      {.method = net::Method::kPost, .target = "/api/v1/namespaces", .body = space});  // it may exist already
  const net::HttpResponse response = (*server)->handle(
      {.method = net::Method::kPost,
       .target = fmt::format("/apis/trainyard.dev/v1alpha1/namespaces/{}/trainingjobs?fieldValidation=Strict",
                             kNamespace),
       .body = job.dump(-1, ' ', false, SortedJson::error_handler_t::replace)});
  constexpr int kFirstRefusal = 400;
  if (response.status < kFirstRefusal) return {};
  const SortedJson status = SortedJson::parse(response.body, nullptr, false);
  return status.is_object() ? status.value("message", response.body) : response.body;
}

// Notes values such as "template.spec.containers[0].env[1].value: true is not text". YAML parses yes, off and
// 010 as other types, and the API server accepts only texts for these fields of a pod.
void checkTexts(const SortedJson& value, const std::string& path, std::vector<Note>& notes) {
  if (value.is_string() || value.is_null()) return;
  notes.push_back(
      {Severity::kCannotWork,
       plainText(fmt::format("{}: {} is not text: write it in quotes", path, value.dump()), false)});
}

void checkEach(const SortedJson& object, const char* key, const std::string& path, std::vector<Note>& notes) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_structured()) return;
  for (const auto& [name, value] : object[key].items())
    checkTexts(value,
               object[key].is_array() ? fmt::format("{}.{}[{}]", path, key, name)
                                      : fmt::format("{}.{}.{}", path, key, name),
               notes);
}

void checkContainers(const SortedJson& spec, const char* list, const std::string& path,
                     std::vector<Note>& notes) {
  if (!spec.is_object() || !spec.contains(list) || !spec[list].is_array()) return;
  for (std::size_t i = 0; i < spec[list].size(); ++i) {
    const SortedJson& container = spec[list][i];
    const std::string here = fmt::format("{}.{}[{}]", path, list, i);
    for (const char* key : {"command", "args"}) checkEach(container, key, here, notes);
    if (!container.is_object() || !container.contains("env") || !container["env"].is_array()) continue;
    for (const SortedJson& variable : container["env"]) {
      if (!variable.is_object() || !variable.contains("name")) continue;
      const SortedJson& name = variable["name"];
      checkTexts(name, here + ".env[].name", notes);
      if (variable.contains("value"))
        checkTexts(
            variable["value"],
            fmt::format("{}.env[{}].value", here, name.is_string() ? name.get<std::string>() : name.dump()),
            notes);
    }
  }
}

void checkTemplates(const SortedJson& job, std::vector<Note>& notes) {
  const SortedJson::json_pointer roles("/spec/roles");
  if (!job.contains(roles) || !job[roles].is_array()) return;
  for (const SortedJson& role : job[roles]) {
    if (!role.is_object() || !role.contains("template") || !role["template"].is_object()) continue;
    const SortedJson& pod = role["template"];
    const std::string path = fmt::format("role {}: template", role.value("name", ""));
    for (const char* key : {"labels", "annotations"}) {
      if (pod.contains("metadata")) checkEach(pod["metadata"], key, path + ".metadata", notes);
    }
    if (!pod.contains("spec")) continue;
    for (const char* list : {"containers", "initContainers"})
      checkContainers(pod["spec"], list, path + ".spec", notes);
  }
}

}  // namespace

std::vector<Note> checkConverted(const std::string& json) {
  SortedJson job = SortedJson::parse(json, nullptr, false);
  if (!job.is_object() || !job.contains("metadata")) return {};
  job["metadata"]["namespace"] = kNamespace;
  const std::string name = job["metadata"].value("name", std::string());
  // The name is missing or a placeholder: use a stand-in.
  if (name.empty() || name.find('$') != std::string::npos) {
    job["metadata"].erase("generateName");
    job["metadata"]["name"] = "job";
  }
  std::vector<Note> notes;
  checkTemplates(job, notes);
  if (!notes.empty()) return notes;
  if (const std::string refusal = refusalOf(job); !refusal.empty()) {
    notes.push_back({Severity::kCannotWork, plainText("the API server refuses it: " + refusal, false)});
    return notes;
  }
  const auto decoded = codec::decodeJob(job.dump());
  if (!decoded) {
    notes.push_back({Severity::kCannotWork, plainText(decoded.error().message, false)});
    return notes;
  }
  if (!decoded->specError.empty())
    notes.push_back(
        {Severity::kCannotWork, plainText("the operator refuses it: " + decoded->specError, false)});
  for (const std::string& less : decoded->spec.unsupported)
    notes.push_back(
        {Severity::kChanged, plainText("written as it was, but with less effect: " + less, false)});
  return notes;
}

}  // namespace trainyard::cli
