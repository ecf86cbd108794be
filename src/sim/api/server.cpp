#include "sim/api/server.h"

#include <algorithm>

#include "sim/api/discovery.h"
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

Outcome<WatchHub::Request> watchRequest(const RequestInfo& info) {
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

}  // namespace

ApiServer::Impl::Impl(const ApiServerOptions& given, std::shared_ptr<const Registry> types, Clock now)
    : state{std::move(now), base::Rng(given.seed), std::move(types), ApiStore(given.historyLimit)},
      hub(state.store),
      bodies(*state.registry),
      reader(state.store),
      writer(state, bodies),
      patcher(writer, bodies),
      scales(writer, bodies),
      binder(state, bodies),
      namespaces(state.store, bodies),
      remover(state, bodies, reader),
      evictor(state, bodies, remover) {
  state.store.setListener([this](const StoreEvent& event) {
    hub.publish(event);
    if (onChange) onChange(event);
  });
  installDefaults(state);
}

Outcome<Answer> ApiServer::Impl::route(const net::HttpRequest& request) {
  using net::Method;
  auto resolved = resolve(request, *state.registry);
  if (!resolved) return tl::unexpected<Failure>(resolved.error());
  const RequestInfo& info = *resolved;
  if (!info.path.resource)
    return request.method == Method::kGet ? discover(*state.registry, info.path) : methodNotAllowed();
  if (info.path.subresource == "binding")
    return request.method == Method::kPost ? binder.bind(info) : methodNotAllowed();
  if (info.path.subresource == "eviction")
    return request.method == Method::kPost ? evictor.evict(info) : methodNotAllowed();
  if (info.path.subresource == "log")
    return request.method == Method::kGet ? reader.log(info) : methodNotAllowed();
  if (info.path.name.empty()) {
    if (info.type->namespaced && info.path.space.empty() && request.method != Method::kGet)
      return methodNotAllowed();
    switch (request.method) {
      case Method::kGet: return reader.list(info);
      case Method::kPost: return writer.create(info);
      case Method::kDelete: return remover.removeCollection(info);
      default: return methodNotAllowed();
    }
  }
  if (info.part == Part::kFinalize)
    return request.method == Method::kPut ? namespaces.finalize(info) : methodNotAllowed();
  if (info.part == Part::kScale && request.method == Method::kPut) return scales.write(info);
  switch (request.method) {
    case Method::kGet: return reader.get(info);
    case Method::kPut: return writer.replace(info);
    case Method::kPatch: return info.part == Part::kScale ? scales.write(info) : patcher.patch(info);
    case Method::kDelete: return info.part == Part::kMain ? remover.remove(info) : methodNotAllowed();
    default: return methodNotAllowed();
  }
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
  const auto info = resolve(request, *impl_->state.registry);
  if (!info) return tl::unexpected<net::HttpResponse>(respond(info.error()));
  auto watch = watchRequest(*info);
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
void ApiServer::compact() { impl_->state.store.forget(); }
std::uint64_t ApiServer::resourceVersion() const { return impl_->state.store.version(); }
void ApiServer::setChangeListener(std::function<void(const StoreEvent&)> listener) {
  impl_->onChange = std::move(listener);
}

}  // namespace trainyard::sim
