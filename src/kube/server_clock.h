#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/log.h"

namespace trainyard::kube {

// "Sat, 28 Nov 2026 02:43:03 GMT", the form of HTTP's header Date; empty for every other text.
[[nodiscard]] std::optional<base::WallTime> parseHttpDate(std::string_view text);

// Keeps the calendar time of the program near that of the API servers: all times that programs compare with
// their own come from there, or from programs that do the same.
//
// Each answer that came quickly is a sample: its Date, less the monotonic time at which it came. The median
// of the last ones is what the executor's wallNow() is anchored to, so a single server with a wrong clock
// does not matter. While the machine's clock agrees within Executor::kWallTolerance it is used as it is,
// since Date has whole seconds.
class ServerClock {
 public:
  ServerClock(base::Executor& executor, base::Logger log) : executor_(executor), log_(std::move(log)) {}

  // `date`: the answer's header, empty without one; `sent`: when the request was sent.
  void note(std::string_view date, base::Instant sent);

 private:
  void anchor();

  base::Executor& executor_;
  base::Logger log_;
  std::vector<base::WallTime> samples_;  // of monotonic time 0, the latest last
  bool differs_ = false;                 // from the machine's clock
};

}  // namespace trainyard::kube
