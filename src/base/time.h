#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard::base {

// Monotonic time: for deadlines and intervals inside one process. Never leaves the process.
struct MonotonicClock {
  using rep = std::int64_t;
  using period = std::micro;
  using duration = std::chrono::microseconds;
  using time_point = std::chrono::time_point<MonotonicClock, duration>;
  static constexpr bool is_steady = true;
};
using Instant = MonotonicClock::time_point;

// Calendar time, as written into API objects and compared across processes.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

// "2026-11-21T09:00:00Z" (metav1.Time: whole seconds, rounded down).
[[nodiscard]] std::string formatTime(WallTime time);
// "2026-11-21T09:00:00.123456Z" (metav1.MicroTime: exactly six digits; the Lease API refuses others).
[[nodiscard]] std::string formatMicroTime(WallTime time);
// Parses RFC 3339 with an optional fraction (digits past the sixth are dropped) and Z or ±hh:mm. kInvalid has
// the text.
[[nodiscard]] Result<WallTime> parseTime(std::string_view text);

}  // namespace trainyard::base
