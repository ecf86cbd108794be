#include "sim/api_watch.h"

#include <charconv>

#include <fmt/format.h>

namespace trainyard::sim {
namespace {

void send(const WatchSink& sink, std::string_view kind, const Json& object) {
  sink.onLine(fmt::format("{{\"type\":\"{}\",\"object\":{}}}", kind, dumpJson(object)));
}

bool concerns(const WatchHub::Request& request, const std::string& table, const ObjectKey& key) {
  return request.type->table == table && (request.space.empty() || request.space == key.first) &&
         (request.name.empty() || request.name == key.second);
}

}  // namespace

Json shown(const ResourceType& type, const Json& stored) {
  Json object = type.fromStored != nullptr ? type.fromStored(stored) : stored;
  object["apiVersion"] = type.apiVersion();
  object["kind"] = type.name.kind;
  return object;
}

Outcome<std::uint64_t> WatchHub::open(Request request, WatchSink sink) {
  std::uint64_t from = 0;
  const std::string& text = request.fromVersion;
  if (!text.empty()) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), from);
    if (error != std::errc() || end != text.data() + text.size()) {
      // The real server fails here without a reason.
      return tl::unexpected<Failure>(
          Failure{500, "", fmt::format("strconv.ParseUint: parsing \"{}\": invalid syntax", text), nullptr});
    }
  }
  const std::uint64_t id = ++lastId_;
  auto watch = std::make_shared<Watch>(Watch{std::move(request), std::move(sink), from});
  watches_[id] = watch;
  if (from == 0) {
    for (const auto& [key, object] : store_.table(watch->request.type->table)) {
      if (!concerns(watch->request, watch->request.type->table, key)) continue;
      const Json seen = shown(*watch->request.type, *object);
      if (watch->request.selector.matches(seen)) send(watch->sink, "ADDED", seen);
    }
    sendBookmark(*watch, true);
    watch->told = store_.version();
    return id;
  }
  if (from < store_.oldestVersion()) {
    const Failure expired =
        failExpired(fmt::format("too old resource version: {} ({})", from, store_.oldestVersion())).value();
    watches_.erase(id);
    send(watch->sink, "ERROR", statusObject(expired));
    watch->sink.onClosed();
    return id;
  }
  for (const auto& event : store_.history()) {
    if (event.version > from) deliver(*watch, event);
  }
  watch->told = store_.version();
  return id;
}

void WatchHub::deliver(Watch& watch, const StoreEvent& event) {
  const Request& request = watch.request;
  if (!concerns(request, event.table, event.key)) return;
  // An object that leaves the selection is deleted as far as this watcher can tell, and the other way round.
  const bool was = event.before != nullptr && request.selector.matches(shown(*request.type, *event.before));
  const bool is = event.after != nullptr && request.selector.matches(shown(*request.type, *event.after));
  if (is) {
    watch.told = event.version;
    send(watch.sink, was ? "MODIFIED" : "ADDED", shown(*request.type, *event.after));
  } else if (was) {
    watch.told = event.version;
    Json last = shown(*request.type, event.last != nullptr ? *event.last : *event.before);
    last["metadata"]["resourceVersion"] = std::to_string(event.version);
    send(watch.sink, "DELETED", last);
  }
}

void WatchHub::publish(const StoreEvent& event) {
  // A sink may close its own or another watch: walk by id, not by iterator.
  std::uint64_t next = 0;
  while (true) {
    const auto at = watches_.upper_bound(next);
    if (at == watches_.end()) return;
    next = at->first;
    const std::shared_ptr<Watch> watch = at->second;
    deliver(*watch, event);
  }
}

void WatchHub::sendBookmark(Watch& watch, bool initial) const {
  // A bookmark that tells nothing new is not sent.
  if (!watch.request.bookmarks || (!initial && watch.told >= store_.version())) return;
  watch.told = store_.version();
  const ResourceType& type = *watch.request.type;
  Json object = Json::object();
  std::vector<std::string> unknown;
  if (!type.custom()) object = roundTrip(*type.type, Json::object(), unknown).value_or(Json::object());
  object["apiVersion"] = type.apiVersion();
  object["kind"] = type.name.kind;
  object["metadata"]["resourceVersion"] = std::to_string(store_.version());
  if (initial) object["metadata"]["annotations"] = {{"k8s.io/initial-events-end", "true"}};
  send(watch.sink, "BOOKMARK", object);
}

void WatchHub::bookmarkAll() {
  const auto watches = watches_;
  for (const auto& [id, watch] : watches) {
    if (watches_.count(id) != 0) sendBookmark(*watch, false);
  }
}

void WatchHub::bookmark(std::uint64_t id) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) return;
  const std::shared_ptr<Watch> watch = found->second;
  sendBookmark(*watch, false);
}

void WatchHub::endAll() {
  const auto ended = std::move(watches_);
  watches_.clear();
  for (const auto& [id, watch] : ended) watch->sink.onClosed();
}

}  // namespace trainyard::sim
