#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"
#include "codec/event.h"

namespace trainyard::kube {

// The occurrences of one event and their object at the server.
struct EventSeries {
  codec::Event event;
  bool created = false;
  bool pending = false;      // queued, in flight or waiting for a retry; set by EventSeriesTable
  bool finishing = false;    // silent for long: dropped after the last write
  std::int64_t written = 0;  // the count at the server
  std::int64_t writing = 0;  // the count in the write in flight
  int tries = 0;
  base::Instant lastSeen{};
  base::Instant lastWritten{};

  // Whether its count at the server has to be updated.
  [[nodiscard]] bool isDue(base::Instant now) const;
  [[nodiscard]] bool isIdle(base::Instant now) const;
};

// All series by key, and how much of the capacity each namespace uses.
class EventSeriesTable {
 public:
  using Map = std::map<std::string, EventSeries>;
  using Iterator = Map::iterator;

  explicit EventSeriesTable(std::size_t maxPending) : maxPending_(maxPending) {}

  // A namespace may use at most half of the capacity that others leave free, so that a new one has some.
  [[nodiscard]] bool mayAdd(const std::string& ns) const;
  Iterator add(const std::string& key, codec::Event event);
  void setPending(EventSeries& series, bool isPending);
  // Returns the next one.
  Iterator erase(Iterator at);

  [[nodiscard]] Iterator find(const std::string& key) { return series_.find(key); }
  [[nodiscard]] Iterator begin() { return series_.begin(); }
  [[nodiscard]] Iterator end() { return series_.end(); }
  [[nodiscard]] bool empty() const { return series_.empty(); }

 private:
  struct Held {
    std::size_t series = 0;
    std::size_t pending = 0;
  };

  const std::size_t maxPending_;
  Map series_;
  std::map<std::string, Held> held_;  // by namespace, if it has series
  std::size_t pending_ = 0;
};

}  // namespace trainyard::kube
