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

// status.plan: the chosen shape of a job with spec.plan.mode Auto.
struct ShapePlan {
  std::int64_t generation = 0;  // generation of its spec
  std::vector<PlannedRole> roles = {};
  std::string gpuType;  // the type with the best speed for its cost; empty: any
  int nodes = 0;        // the best number of nodes
  std::int64_t stepMicros = 0;
  std::int64_t milliSamplesPerSecond = 0;
  std::string message;  // the reason for this shape
  base::WallTime at{};
  friend bool operator==(const ShapePlan&, const ShapePlan&) = default;
};

}  // namespace trainyard::model
