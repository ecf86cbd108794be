#include "core/search/type_preference.h"

namespace trainyard::core {

const std::string* TypePreference::of(const model::Job& job) const {
  if (!chosen_.empty()) {
    if (const auto type = chosen_.find(job.key); type != chosen_.end()) return &type->second;
  }
  const bool planned = job.spec.plan.automatic && job.status.plan && !job.status.plan->gpuType.empty();
  return planned ? &job.status.plan->gpuType : nullptr;
}

}  // namespace trainyard::core
