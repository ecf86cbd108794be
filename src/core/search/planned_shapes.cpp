#include "core/search/planned_shapes.h"

#include "model/gang_size.h"

namespace trainyard::core {

const std::vector<model::ShapeCost>* PlannedShapes::costsOf(const model::Job& job) {
  constexpr int kPreferred = 900;
  const auto& plan = job.status.plan;
  if (!job.spec.plan.automatic || !plan || plan->nodes < 1) return nullptr;
  const std::int64_t gpus = model::desiredGpus(job.spec);
  if (gpus == 0 || gpus % plan->nodes != 0) return nullptr;
  const int each = static_cast<int>(gpus / plan->nodes);
  const auto [known, isNew] = costs_.try_emplace({plan->nodes, each});
  if (isNew) known->second.push_back({plan->nodes, each, kPreferred});
  return &known->second;
}

}  // namespace trainyard::core
