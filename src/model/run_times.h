#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"

namespace trainyard::model {

// A job that ended by itself.
struct PastRun {
  base::WallTime submitted{};   // to the second
  std::chrono::seconds ran{0};  // in all, however often it was interrupted
  std::uint32_t job = 0;        // tells jobs of a sweep apart that were submitted and ended together
  friend auto operator<=>(const PastRun&, const PastRun&) = default;
};

// What jobs of each kind took (core/order/run_time_model.h says what a kind is). Those of a kind are sorted.
struct RunTimes {
  std::map<std::string, std::vector<PastRun>> kinds;
  friend bool operator==(const RunTimes&, const RunTimes&) = default;
};

}  // namespace trainyard::model
