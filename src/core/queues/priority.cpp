#include "core/queues/priority.h"

namespace trainyard::core {

int Priorities::of(const model::Job& job) const {
  for (const auto& known : classes_) {
    const bool applies =
        job.spec.priorityClassName.empty() ? known->globalDefault : known->name == job.spec.priorityClassName;
    if (applies) return known->value;
  }
  return 0;
}

}  // namespace trainyard::core
