#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/log.h"

namespace trainyard::kube {

// Parses "Sat, 28 Nov 2026 02:43:03 GMT", the form of HTTP's Date header; nullopt for every other text.
[[nodiscard]] std::optional<base::WallTime> parseHttpDate(std::string_view text);

// Keeps the program's wall time close to that of the API servers. All times that programs compare with their
// clock are written by API servers, or by programs that do the same.
//
// Each quick answer is a sample: its Date minus the monotonic time of its arrival. The executor's wallNow()
// is anchored to the median of the last samples, so a single server with a wrong clock has no effect. While
// the machine's clock agrees within Executor::kWallTolerance, it is used unchanged, because Date has whole
// seconds.
class ServerClock {
 public:
  ServerClock(base::Executor& executor, base::Logger log) : executor_(executor), log_(std::move(log)) {}

  // `date` is the answer's header, empty if missing; `sent` is when the request was sent.
  void note(std::string_view date, base::Instant sent);

 private:
  void anchor();

  base::Executor& executor_;
  base::Logger log_;
  std::vector<base::WallTime> samples_;  // of monotonic time 0, the latest last
  bool differs_ = false;                 // from the machine's clock
};

}  // namespace trainyard::kube
