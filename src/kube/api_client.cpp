#include "kube/api_client.h"

#include <algorithm>

namespace trainyard::kube {
namespace {

// The server's default validation looks for unknown fields and returns warnings, which this program ignores.
Query unwarned(Query query) {
  const bool asks = std::any_of(query.begin(), query.end(),
                                [](const auto& option) { return option.first == "fieldValidation"; });
  if (!asks) query.emplace_back("fieldValidation", "Ignore");
  return query;
}

}  // namespace

std::string_view contentTypeOf(PatchType type) {
  switch (type) {
    case PatchType::kMerge: return "application/merge-patch+json";
    case PatchType::kStrategicMerge: return "application/strategic-merge-patch+json";
    case PatchType::kJson: return "application/json-patch+json";
    case PatchType::kApply: return "application/apply-patch+yaml";
  }
  return "application/json";
}

void ApiClient::get(std::string path, ApiCallback done) {
  request({.path = std::move(path)}, std::move(done));
}

void ApiClient::create(std::string collectionPath, std::string body, ApiCallback done, Query query) {
  request({.method = net::Method::kPost,
           .path = std::move(collectionPath),
           .query = unwarned(std::move(query)),
           .body = std::move(body)},
          std::move(done));
}

void ApiClient::patch(PatchType type, std::string path, std::string body, ApiCallback done, Query query) {
  request({.method = net::Method::kPatch,
           .path = std::move(path),
           .query = unwarned(std::move(query)),
           .body = std::move(body),
           .contentType = std::string(contentTypeOf(type))},
          std::move(done));
}

void ApiClient::remove(std::string path, const DeleteOptions& options, ApiCallback done) {
  request({.method = net::Method::kDelete, .path = std::move(path), .body = codec::encode(options)},
          std::move(done));
}

}  // namespace trainyard::kube
