#pragma once

#include <cmath>

#include "replay/traces/trace.h"

namespace trainyard::replay {

inline constexpr int kMaxGpus = 1'000'000;  // of a job in a trace

[[nodiscard]] inline ReplayTime fromSeconds(double seconds) {
  return ReplayTime(std::llround(seconds * 1e6));
}

}  // namespace trainyard::replay
