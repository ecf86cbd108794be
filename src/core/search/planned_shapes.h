#pragma once

#include <map>
#include <utility>
#include <vector>

#include "model/job.h"
#include "model/policy.h"

namespace trainyard::core {

// The costs of shapes for jobs with a plan.
class PlannedShapes {
 public:
  // The shape that the job's plan prefers, as if only that had been measured; nullptr for a job without a
  // plan. Valid as long as this object.
  [[nodiscard]] const std::vector<model::ShapeCost>* costsOf(const model::Job& job);

 private:
  std::map<std::pair<int, int>, std::vector<model::ShapeCost>> costs_;  // by nodes and GPUs per node
};

}  // namespace trainyard::core
