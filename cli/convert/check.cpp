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

using Json = nlohmann::json;

constexpr const char* kNamespace = "default";

// The same answers as those of `kubectl apply --dry-run=server --validate=strict`.
std::string refusalOf(const Json& job) {
  static const auto types = sim::ApiServer::readTypes(sim::clusterCrds());
  if (!types) return types.error().message;
  const auto server = sim::ApiServer::create({.types = *types}, [] { return base::WallTime(); });
  if (!server) return server.error().message;
  const std::string space = fmt::format(R"({{"metadata":{{"name":"{}"}}}})", kNamespace);
  (void)(*server)->handle(
      {.method = net::Method::kPost, .target = "/api/v1/namespaces", .body = space});  // it may be there
  const net::HttpResponse response = (*server)->handle(
      {.method = net::Method::kPost,
       .target = fmt::format("/apis/trainyard.dev/v1alpha1/namespaces/{}/trainingjobs?fieldValidation=Strict",
                             kNamespace),
       .body = job.dump(-1, ' ', false, Json::error_handler_t::replace)});
  constexpr int kFirstRefusal = 400;
  if (response.status < kFirstRefusal) return {};
  const Json status = Json::parse(response.body, nullptr, false);
  return status.is_object() ? status.value("message", response.body) : response.body;
}

}  // namespace

std::vector<Note> checkConverted(const std::string& json) {
  Json job = Json::parse(json, nullptr, false);
  if (!job.is_object() || !job.contains("metadata")) return {};
  job["metadata"]["namespace"] = kNamespace;
  const std::string name = job["metadata"].value("name", std::string());
  // What stands for a name that is to be put in.
  if (name.empty() || name.find('$') != std::string::npos) {
    job["metadata"].erase("generateName");
    job["metadata"]["name"] = "job";
  }
  std::vector<Note> notes;
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
    notes.push_back({Severity::kChanged, plainText("less than asked for: " + less, false)});
  return notes;
}

}  // namespace trainyard::cli
