#include "sim/api/request_info.h"

#include <utility>
#include <vector>

namespace trainyard::sim {

std::string RequestInfo::contentType() const {
  std::string text(net::findHeader(http->headers, "Content-Type"));
  text = text.substr(0, text.find(';'));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

Outcome<RequestInfo> resolve(const net::HttpRequest& request, const Registry& registry) {
  auto path = parseTarget(request.target);
  if (!path) return tl::unexpected<Failure>(path.error());
  RequestInfo info;
  info.http = &request;
  info.path = *std::move(path);
  if (!info.path.resource) return info;
  info.type = registry.find(info.path.group, info.path.version, info.path.plural);
  if (info.type == nullptr && !registry.hasGroup(info.path.group)) return failPageNotFound();
  if (info.type == nullptr || (!info.path.space.empty() && !info.type->namespaced)) return failUnknownPath();
  if (info.type->namespaced && info.path.space.empty() && !info.path.name.empty()) return failUnknownPath();
  const std::string& sub = info.path.subresource;
  if (sub == "status" && info.type->hasStatus) {
    info.part = Part::kStatus;
  } else if (sub == "scale" && info.type->hasScale()) {
    info.part = Part::kScale;
  } else if (sub == "finalize" && info.type->name.plural == "namespaces") {
    info.part = Part::kFinalize;
  } else if (!sub.empty() &&
             !((sub == "binding" || sub == "eviction" || sub == "log") && info.type->name.plural == "pods")) {
    return failUnknownPath();
  }
  const std::string dryRun = queryText(info.path.query, "dryRun");
  if (!dryRun.empty() && dryRun != "All" && request.method != net::Method::kGet) {
    const char* kind = request.method == net::Method::kPost    ? "CreateOptions"
                       : request.method == net::Method::kPut   ? "UpdateOptions"
                       : request.method == net::Method::kPatch ? "PatchOptions"
                                                               : "DeleteOptions";
    Causes causes;
    causes.notSupported("dryRun", dryRun);
    return failInvalid({"meta.k8s.io", "", kind}, "", causes);
  }
  info.dryRun = dryRun == "All";
  info.strict = queryText(info.path.query, "fieldValidation") == "Strict";
  return info;
}

Outcome<Selector> selectorOf(const RequestInfo& info) {
  std::vector<std::string> known = info.type->fields;
  known.insert(known.end(), {"metadata.name", "metadata.namespace"});
  return Selector::parse(queryText(info.path.query, "labelSelector"),
                         queryText(info.path.query, "fieldSelector"), known);
}

}  // namespace trainyard::sim
