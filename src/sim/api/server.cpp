#include "sim/api/server.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/api/server_impl.h"

namespace trainyard::sim {
namespace {

net::HttpResponse respond(int status, const Json& body) {
  return {status, {{"Content-Type", "application/json"}}, dumpJson(body)};
}

net::HttpResponse respond(const Failure& failure) {
  if (failure.details.is_string()) return {failure.code, {{"Content-Type", "text/plain"}}, failure.message};
  return respond(failure.code, statusObject(failure));
}

net::HttpResponse respond(const Outcome<Answer>& answer) {
  if (!answer) return respond(answer.error());
  if (answer->body.is_string())
    return {answer->status, {{"Content-Type", "text/plain"}}, answer->body.get<std::string>()};
  return respond(answer->status, answer->body);
}

tl::unexpected<Failure> methodNotAllowed() { return failMethodNotAllowed({}, ""); }

}  // namespace

std::string RequestInfo::contentType() const {
  std::string text(net::findHeader(http->headers, "Content-Type"));
  text = text.substr(0, text.find(';'));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

ApiServer::Impl::Impl(const ApiServerOptions& given, std::shared_ptr<const Registry> types, Clock now)
    : clock(std::move(now)),
      rng(given.seed),
      registry(std::move(types)),
      store(given.historyLimit),
      hub(store) {
  store.setListener([this](const StoreEvent& event) {
    hub.publish(event);
    if (onChange) onChange(event);
  });
  installDefaults();
}

void ApiServer::Impl::installDefaults() {
  const auto meta = [this](const std::string& name) {
    return Json{{"name", name}, {"uid", newUid()}, {"creationTimestamp", base::formatTime(clock())}};
  };
  for (const std::string name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    Json space = {{"metadata", meta(name)},
                  {"spec", {{"finalizers", {"kubernetes"}}}},
                  {"status", {{"phase", "Active"}}}};
    space["metadata"]["labels"] = {{"kubernetes.io/metadata.name", name}};
    store.put("namespaces", {"", name}, std::move(space));
    Json account = {{"metadata", meta("default")}};
    account["metadata"]["namespace"] = name;
    store.put("serviceaccounts", {name, "default"}, std::move(account));
  }
  const auto priority = [&](const std::string& name, std::int64_t value, const std::string& text) {
    Json object = {{"metadata", meta(name)},
                   {"value", value},
                   {"description", text},
                   {"preemptionPolicy", "PreemptLowerPriority"}};
    object["metadata"]["generation"] = 1;
    store.put("priorityclasses", {"", name}, std::move(object));
  };
  priority("system-cluster-critical", 2'000'000'000,
           "Used for system critical pods that must run in the cluster, but can be moved to another node if "
           "necessary.");
  priority("system-node-critical", 2'000'001'000,
           "Used for system critical pods that must not be moved from their current node.");
  // No client can have seen the history so far.
  store.forget();
}

std::string ApiServer::Impl::newUid() {
  const std::uint64_t high = rng.next();
  const std::uint64_t low = rng.next();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xFFFF, high & 0xFFF,
                     0x8000 | ((low >> 48) & 0x3FFF), low & 0xFFFF'FFFF'FFFF);
}

std::string ApiServer::Impl::randomSuffix() {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < 5; ++i) suffix += kLetters[rng.below(kLetters.size())];
  return suffix;
}

AdmissionView ApiServer::Impl::view() {
  AdmissionView view;
  view.get = [this](const std::string& plural, const std::string& space, const std::string& name) {
    return store.get(plural, {space, name}).get();
  };
  view.list = [this](const std::string& plural, const std::string& space) {
    std::vector<const Json*> found;
    for (const auto& [key, object] : store.table(plural)) {
      if (space.empty() || key.first == space) found.push_back(object.get());
    }
    return found;
  };
  view.now = clock();
  view.rng = &rng;
  return view;
}

Outcome<RequestInfo> ApiServer::Impl::resolve(const net::HttpRequest& request) const {
  auto path = parseTarget(request.target);
  if (!path) return tl::unexpected<Failure>(path.error());
  RequestInfo info;
  info.http = &request;
  info.path = *std::move(path);
  if (!info.path.resource) return info;
  info.type = registry->find(info.path.group, info.path.version, info.path.plural);
  if (info.type == nullptr && !registry->hasGroup(info.path.group)) return failPageNotFound();
  if (info.type == nullptr || (!info.path.space.empty() && !info.type->namespaced)) return failUnknownPath();
  if (info.type->namespaced && info.path.space.empty() && !info.path.name.empty()) return failUnknownPath();
  const std::string& sub = info.path.subresource;
  if (sub == "status" && info.type->hasStatus) {
    info.part = Part::kStatus;
  } else if (sub == "scale" && info.type->hasScale()) {
    info.part = Part::kScale;
  } else if (sub == "finalize" && info.type->name.plural == "namespaces") {
    info.part = Part::kFinalize;
  } else if (!sub.empty() && !((sub == "binding" || sub == "log") && info.type->name.plural == "pods")) {
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

Outcome<Selector> ApiServer::Impl::selectorOf(const RequestInfo& info) const {
  std::vector<std::string> known = info.type->fields;
  known.insert(known.end(), {"metadata.name", "metadata.namespace"});
  return Selector::parse(queryText(info.path.query, "labelSelector"),
                         queryText(info.path.query, "fieldSelector"), known);
}

Outcome<Answer> ApiServer::Impl::route(const net::HttpRequest& request) {
  using net::Method;
  auto resolved = resolve(request);
  if (!resolved) return tl::unexpected<Failure>(resolved.error());
  const RequestInfo& info = *resolved;
  if (!info.path.resource) return request.method == Method::kGet ? discovery(info.path) : methodNotAllowed();
  if (info.path.subresource == "binding")
    return request.method == Method::kPost ? bind(info) : methodNotAllowed();
  if (info.path.subresource == "log") return request.method == Method::kGet ? log(info) : methodNotAllowed();
  if (info.path.name.empty()) {
    if (info.type->namespaced && info.path.space.empty() && request.method != Method::kGet)
      return methodNotAllowed();
    switch (request.method) {
      case Method::kGet: return list(info);
      case Method::kPost: return create(info);
      case Method::kDelete: return removeCollection(info);
      default: return methodNotAllowed();
    }
  }
  if (info.part == Part::kFinalize)
    return request.method == Method::kPut ? finalizeNamespace(info) : methodNotAllowed();
  if (info.part == Part::kScale && request.method == Method::kPut) return scale(info);
  switch (request.method) {
    case Method::kGet: return get(info);
    case Method::kPut: return replace(info);
    case Method::kPatch: return info.part == Part::kScale ? scale(info) : patch(info);
    case Method::kDelete: return info.part == Part::kMain ? remove(info) : methodNotAllowed();
    default: return methodNotAllowed();
  }
}

Outcome<WatchHub::Request> ApiServer::Impl::watchRequest(const RequestInfo& info) const {
  if (!info.path.resource) return failUnknownPath();
  auto selector = selectorOf(info);
  if (!selector) return tl::unexpected<Failure>(selector.error());
  WatchHub::Request watch;
  watch.type = info.type;
  watch.space = info.path.space;
  watch.name = info.path.name;
  watch.selector = *std::move(selector);
  watch.bookmarks = queryFlag(info.path.query, "allowWatchBookmarks");
  watch.fromVersion = queryText(info.path.query, "resourceVersion");
  return watch;
}

base::Result<std::shared_ptr<const Registry>> ApiServer::readTypes(const std::vector<std::string>& crds) {
  auto registry = Registry::create(crds);
  if (!registry) return base::fail(registry.error());
  return std::shared_ptr<const Registry>(*std::move(registry));
}

base::Result<std::unique_ptr<ApiServer>> ApiServer::create(const ApiServerOptions& options, Clock clock) {
  auto types = options.types != nullptr ? options.types : readTypes(options.crds);
  if (!types) return base::fail(types.error());
  auto impl = std::make_unique<Impl>(options, *std::move(types), std::move(clock));
  return std::unique_ptr<ApiServer>(new ApiServer(std::move(impl)));
}

ApiServer::ApiServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ApiServer::~ApiServer() = default;

net::HttpResponse ApiServer::handle(const net::HttpRequest& request) {
  return respond(impl_->route(request));
}

bool ApiServer::isWatch(const net::HttpRequest& request) {
  if (request.method != net::Method::kGet) return false;
  const auto path = parseTarget(request.target);
  return path && path->resource && path->name.empty() && queryFlag(path->query, "watch");
}

tl::expected<WatchTicket, net::HttpResponse> ApiServer::openWatch(const net::HttpRequest& request,
                                                                  WatchSink sink) {
  const auto info = impl_->resolve(request);
  if (!info) return tl::unexpected<net::HttpResponse>(respond(info.error()));
  auto watch = impl_->watchRequest(*info);
  if (!watch) return tl::unexpected<net::HttpResponse>(respond(watch.error()));
  auto id = impl_->hub.open(*std::move(watch), std::move(sink));
  if (!id) return tl::unexpected<net::HttpResponse>(respond(id.error()));
  WatchTicket ticket{*id, std::nullopt};
  const std::string seconds = queryText(info->path.query, "timeoutSeconds");
  if (!seconds.empty() && seconds.size() < 9 &&
      std::all_of(seconds.begin(), seconds.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    ticket.timeout = std::chrono::seconds(std::stoll(seconds));
  }
  return ticket;
}

void ApiServer::closeWatch(std::uint64_t id) { impl_->hub.close(id); }
void ApiServer::sendBookmarks() { impl_->hub.bookmarkAll(); }
void ApiServer::sendBookmark(std::uint64_t id) { impl_->hub.bookmark(id); }
void ApiServer::endWatches() { impl_->hub.endAll(); }
void ApiServer::compact() { impl_->store.forget(); }
std::uint64_t ApiServer::resourceVersion() const { return impl_->store.version(); }
void ApiServer::setChangeListener(std::function<void(const StoreEvent&)> listener) {
  impl_->onChange = std::move(listener);
}

}  // namespace trainyard::sim
