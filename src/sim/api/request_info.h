#pragma once

// Internal to src/sim: requests and answers of the API server.

#include <string>

#include "net/http.h"
#include "sim/api/json.h"
#include "sim/api/paths.h"
#include "sim/api/registry.h"
#include "sim/api/selectors.h"
#include "sim/api/status.h"
#include "sim/api/store.h"

namespace trainyard::sim {

// A successful answer: a status code and a document.
struct Answer {
  int status = 200;
  Json body;
};

// One request and its parsed parts.
struct RequestInfo {
  const net::HttpRequest* http = nullptr;
  ApiPath path;
  const ResourceType* type = nullptr;
  Part part = Part::kMain;
  bool dryRun = false;
  bool strict = false;

  [[nodiscard]] ObjectKey key() const { return {type->namespaced ? path.space : std::string(), path.name}; }
  [[nodiscard]] std::string contentType() const;
};

// Parses the request, which must outlive the result. Fails if the server has no such path.
[[nodiscard]] Outcome<RequestInfo> resolve(const net::HttpRequest& request, const Registry& registry);

// Parses the selectors of a list or a watch.
[[nodiscard]] Outcome<Selector> selectorOf(const RequestInfo& info);

}  // namespace trainyard::sim
