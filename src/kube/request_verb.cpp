#include "kube/request_verb.h"

#include <algorithm>

namespace trainyard::kube {
namespace {

// The path is "/api/v1/…" or "/apis/GROUP/VERSION/…", then "namespaces/NS/" if namespaced, then the
// collection; the part after it is a name. A namespace itself is an object of "/api/v1/namespaces".
bool namesObject(std::string_view path) {
  const auto parts = std::count(path.begin(), path.end(), '/');
  const bool grouped = path.starts_with("/apis/");
  if (!grouped && !path.starts_with("/api/")) return true;
  const auto root = grouped ? 3 : 2;
  const bool inside = path.find("/namespaces/") != std::string_view::npos && parts > root + 2;
  return parts > root + (inside ? 3 : 1);
}

}  // namespace

std::string_view verbOf(const ApiRequest& request) {
  switch (request.method) {
    case net::Method::kPost: return "create";
    case net::Method::kPut: return "update";
    case net::Method::kPatch: return "patch";
    case net::Method::kDelete: return "delete";
    case net::Method::kGet: break;
  }
  return namesObject(request.path) ? "get" : "list";
}

}  // namespace trainyard::kube
