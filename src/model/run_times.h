#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"

namespace trainyard::model {

// A job that succeeded.
struct PastRun {
  base::WallTime submitted{};   // to the second
  std::chrono::seconds ran{0};  // total, across all interruptions
  std::uint32_t job = 0;        // separates jobs of a sweep with equal start and end
  friend auto operator<=>(const PastRun&, const PastRun&) = default;
};

// The run times of each kind of job (core/order/run_time_model.h defines a kind), sorted within a kind.
struct RunTimes {
  std::map<std::string, std::vector<PastRun>> kinds;
  friend bool operator==(const RunTimes&, const RunTimes&) = default;
};

}  // namespace trainyard::model
