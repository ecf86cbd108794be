#pragma once

// Internal to src/sim: open watches.

#include <cstdint>
#include <map>
#include <string>

#include "sim/api/registry.h"
#include "sim/api/selectors.h"
#include "sim/api/server.h"
#include "sim/api/store.h"

namespace trainyard::sim {

// Returns the object as clients of `type` see it, with apiVersion and kind.
[[nodiscard]] Json shown(const ResourceType& type, const Json& stored);

class WatchHub {
 public:
  struct Request {
    const ResourceType* type = nullptr;
    std::string space;  // empty: every namespace
    std::string name;   // empty: every name
    Selector selector;
    bool bookmarks = false;
    // Empty: from now, after the present state as ADDED events; "0" has the same meaning.
    std::string fromVersion;
  };

  explicit WatchHub(ApiStore& store) : store_(store) {}

  // Fails for an invalid version. A version that is no longer in the history yields a watch that delivers
  // only an ERROR event.
  [[nodiscard]] Outcome<std::uint64_t> open(Request request, WatchSink sink);
  void close(std::uint64_t id) { watches_.erase(id); }
  void publish(const StoreEvent& event);
  void bookmarkAll();
  void bookmark(std::uint64_t id);
  void endAll();

 private:
  struct Watch {
    Request request;
    WatchSink sink;
    std::uint64_t sentVersion = 0;  // the last version sent to the client
  };

  class EventView;
  static void deliver(Watch& watch, const StoreEvent& event, EventView& view);
  void sendBookmark(Watch& watch, bool initial) const;

  ApiStore& store_;
  std::map<std::uint64_t, std::shared_ptr<Watch>> watches_;
  std::uint64_t lastId_ = 0;
};

}  // namespace trainyard::sim
