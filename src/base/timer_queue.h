#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/executor.h"

namespace trainyard::base {

// Tasks ordered by time, then by insertion: the order is total, so every run is reproducible.
class TimerQueue {
 public:
  TimerId add(Instant when, Task task);
  void cancel(TimerId timer);
  [[nodiscard]] bool empty() const { return tasks_.empty(); }
  [[nodiscard]] std::optional<Instant> nextDue() const;
  // Takes the first task that is due at `now`; returns an empty function if there is none.
  [[nodiscard]] Task popDue(Instant now);

 private:
  using Key = std::pair<Instant, std::uint64_t>;
  std::map<Key, Task> tasks_;
  std::unordered_map<std::uint64_t, Instant> dueById_;
  std::uint64_t lastId_ = 0;
};

}  // namespace trainyard::base
