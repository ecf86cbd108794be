#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/resources.h"

namespace trainyard::model {

struct PlannedRole {
  std::string name;
  int replicas = 0;
  friend bool operator==(const PlannedRole&, const PlannedRole&) = default;
};

// status.plan: the shape that was chosen for a job with spec.plan.mode Auto.
struct ShapePlan {
  std::int64_t generation = 0;  // of the spec that it was made for
  std::vector<PlannedRole> roles = {};
  std::string gpuType;  // on which it is fastest for what it costs; empty: any
  int nodes = 0;        // over how many it is best spread
  std::int64_t stepMicros = 0;
  std::int64_t milliSamplesPerSecond = 0;
  std::string message;  // why this shape
  base::WallTime at{};
  friend bool operator==(const ShapePlan&, const ShapePlan&) = default;
};

}  // namespace trainyard::model
