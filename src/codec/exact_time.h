#pragma once

#include <chrono>
#include <string>

#include "base/time.h"

namespace trainyard::codec {

// Times that enter a computation keep their microseconds: a back-off of one second, cut to whole seconds,
// might become zero. Whole seconds are written without a fraction, as in all other fields.
[[nodiscard]] inline std::string exactTime(base::WallTime time) {
  const bool whole = std::chrono::floor<std::chrono::seconds>(time) == time;
  return whole ? base::formatTime(time) : base::formatMicroTime(time);
}

}  // namespace trainyard::codec
