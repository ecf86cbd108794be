#include "sim/api/watch.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <list>
#include <optional>

#include <fmt/format.h>

namespace trainyard::sim {
namespace {

std::string lineOf(std::string_view kind, const Json& object) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}", kind, dumpJson(object));
}

void send(const WatchSink& sink, std::string_view kind, const Json& object) {
  sink.onLine(lineOf(kind, object));
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

// One event as the watchers of one type see it. Parts that several of them need are computed once.
class WatchHub::EventView {
 public:
  EventView(const ResourceType& type, const StoreEvent& event) : type_(type), event_(event) {}

  [[nodiscard]] bool isOf(const ResourceType& type) const { return &type == &type_; }
  [[nodiscard]] bool was(const Selector& selector) { return selects(selector, event_.before, before_); }
  [[nodiscard]] bool is(const Selector& selector) { return selects(selector, event_.after, after_); }
  const std::string& line(std::string_view kind) {
    std::string& line = lines_[kind];
    if (line.empty()) line = lineOf(kind, kind == "DELETED" ? last() : shown(type_, *event_.after));
    return line;
  }

 private:
  bool selects(const Selector& selector, const ObjectPtr& object, std::optional<Json>& seen) const {
    if (object == nullptr || selector.empty()) return object != nullptr;
    if (!seen) seen = shown(type_, *object);
    return selector.matches(*seen);
  }

  Json last() const {
    Json object = shown(type_, event_.last != nullptr ? *event_.last : *event_.before);
    object["metadata"]["resourceVersion"] = std::to_string(event_.version);
    return object;
  }

  const ResourceType& type_;
  const StoreEvent& event_;
  std::optional<Json> before_;
  std::optional<Json> after_;
  std::map<std::string_view, std::string> lines_;
};

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
    watch->sentVersion = store_.version();
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
    if (event.version <= from || !concerns(watch->request, event.table, event.key)) continue;
    EventView view(*watch->request.type, event);
    deliver(*watch, event, view);
  }
  watch->sentVersion = store_.version();
  return id;
}

void WatchHub::deliver(Watch& watch, const StoreEvent& event, EventView& view) {
  const Request& request = watch.request;
  // For a watcher, an object that leaves its selection is deleted, and one that enters it is added.
  const bool was = view.was(request.selector);
  const bool is = view.is(request.selector);
  if (!was && !is) return;
  watch.sentVersion = event.version;
  watch.sink.onLine(view.line(!is ? "DELETED" : was ? "MODIFIED" : "ADDED"));
}

void WatchHub::publish(const StoreEvent& event) {
  // A sink may close its own or another watch: iterate by id, not by iterator.
  std::uint64_t next = 0;
  std::list<EventView> views;  // one for each version of the type that is watched
  while (true) {
    const auto at = watches_.upper_bound(next);
    if (at == watches_.end()) return;
    next = at->first;
    const std::shared_ptr<Watch> watch = at->second;
    if (!concerns(watch->request, event.table, event.key)) continue;
    const ResourceType& type = *watch->request.type;
    auto view = std::find_if(views.begin(), views.end(), [&](const auto& each) { return each.isOf(type); });
    if (view == views.end()) {
      views.emplace_back(type, event);
      view = std::prev(views.end());
    }
    deliver(*watch, event, *view);
  }
}

void WatchHub::sendBookmark(Watch& watch, bool initial) const {
  // A bookmark without a new version is not sent.
  if (!watch.request.bookmarks || (!initial && watch.sentVersion >= store_.version())) return;
  watch.sentVersion = store_.version();
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
