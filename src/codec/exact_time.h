#pragma once

#include <chrono>
#include <string>

#include "base/time.h"

namespace trainyard::codec {

// Times that are computed with keep their microseconds: a back-off of one second cut down to whole seconds
// might be none. Whole seconds are written as everywhere else.
[[nodiscard]] inline std::string exactTime(base::WallTime time) {
  const bool whole = std::chrono::floor<std::chrono::seconds>(time) == time;
  return whole ? base::formatTime(time) : base::formatMicroTime(time);
}

}  // namespace trainyard::codec
