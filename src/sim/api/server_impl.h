#pragma once

// Internal to src/sim: the parts of ApiServer, spread over read.cpp, write.cpp, delete.cpp,
// patch.cpp.

#include <string>
#include <vector>

#include "base/rng.h"
#include "sim/api/paths.h"
#include "sim/api/registry.h"
#include "sim/api/server.h"
#include "sim/api/store.h"
#include "sim/api/watch.h"

namespace trainyard::sim {

// A successful answer: a status code and a document.
struct Answer {
  int status = 200;
  Json body;
};

struct DeleteOptions {
  std::optional<std::int64_t> grace;
  std::string uid;
  std::string version;
  std::string propagation;  // "", Background, Foreground, Orphan
  bool dryRun = false;
  bool cascadeAsked = false;  // the old form: orphanDependents: false
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

struct ApiServer::Impl {
  Impl(const ApiServerOptions& given, std::shared_ptr<const Registry> types, Clock clock);

  [[nodiscard]] Outcome<Answer> route(const net::HttpRequest& request);
  [[nodiscard]] Outcome<RequestInfo> resolve(const net::HttpRequest& request) const;
  [[nodiscard]] Outcome<Selector> selectorOf(const RequestInfo& info) const;
  [[nodiscard]] Outcome<WatchHub::Request> watchRequest(const RequestInfo& info) const;

  // Reading.
  [[nodiscard]] Outcome<Answer> get(const RequestInfo& info) const;
  [[nodiscard]] Outcome<Answer> log(const RequestInfo& info) const;
  [[nodiscard]] Outcome<Answer> list(const RequestInfo& info) const;
  [[nodiscard]] Outcome<Answer> discovery(const ApiPath& path) const;

  // Writing.
  [[nodiscard]] Outcome<Answer> create(const RequestInfo& info);
  [[nodiscard]] Outcome<Answer> createObject(const RequestInfo& info, Json object);
  [[nodiscard]] Outcome<Answer> replace(const RequestInfo& info);
  [[nodiscard]] Outcome<Answer> patch(const RequestInfo& info);
  [[nodiscard]] Outcome<Answer> bind(const RequestInfo& info);
  [[nodiscard]] Outcome<Answer> finalizeNamespace(const RequestInfo& info);
  [[nodiscard]] Outcome<Answer> scale(const RequestInfo& info);
  using Change = std::function<Outcome<Json>(const Json& old)>;
  // Reads, changes, validates and stores one object. `change` gets and returns the form of info.type.
  [[nodiscard]] Outcome<Answer> update(const RequestInfo& info, const std::string& expectedUid,
                                       const Change& change);

  // Deleting.
  [[nodiscard]] Outcome<DeleteOptions> deleteOptions(const RequestInfo& info) const;
  [[nodiscard]] Outcome<Answer> remove(const RequestInfo& info);
  [[nodiscard]] Outcome<Answer> removeCollection(const RequestInfo& info);
  // Returns true if the object is gone at once, with its last or present state.
  [[nodiscard]] Outcome<std::pair<bool, ObjectPtr>> removeObject(const ResourceType& type,
                                                                 const ObjectKey& key,
                                                                 const DeleteOptions& options);
  [[nodiscard]] std::pair<bool, ObjectPtr> removeNamespace(const ResourceType& type, const ObjectKey& key,
                                                           Json object, const DeleteOptions& options);

  // Bodies.
  [[nodiscard]] Outcome<Json> parseBody(const RequestInfo& info, std::vector<std::string>& duplicates) const;
  // Decodes a client's document as an object of the type: known members, typed values, defaults filled in.
  // `patched` marks the result of a patch, for which errors are 422 instead of 400.
  [[nodiscard]] Outcome<Json> decode(const RequestInfo& info, Json document, bool patched,
                                     std::vector<std::string> complaints) const;
  // Parses and decodes the body of the request.
  [[nodiscard]] Outcome<Json> decodeBody(const RequestInfo& info) const;
  [[nodiscard]] Outcome<Json> decodeCustom(const RequestInfo& info, Json document,
                                           std::vector<std::string>& complaints) const;
  [[nodiscard]] Outcome<Json> applyPatch(const RequestInfo& info, const Json& old,
                                         const Json& patchBody) const;
  // 500 for an object that has no replica count.
  [[nodiscard]] Outcome<Json> readScale(const RequestInfo& info, const Json& object) const;
  [[nodiscard]] Json scaleOf(const RequestInfo& info, const Json& object) const;

  [[nodiscard]] Outcome<void> namespaceAllows(const RequestInfo& info, const std::string& name) const;
  [[nodiscard]] AdmissionView view();
  [[nodiscard]] std::string newUid();
  [[nodiscard]] std::string randomSuffix();
  void installDefaults();

  Clock clock;
  base::Rng rng;
  std::shared_ptr<const Registry> registry;
  ApiStore store;
  WatchHub hub;
  std::function<void(const StoreEvent&)> onChange;
};

}  // namespace trainyard::sim
