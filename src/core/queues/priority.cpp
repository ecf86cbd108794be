#include "core/queues/priority.h"

namespace trainyard::core {

const model::PriorityClass* Priorities::classOf(const model::Job& job) const {
  for (const auto& known : classes_) {
    const bool applies =
        job.spec.priorityClassName.empty() ? known->globalDefault : known->name == job.spec.priorityClassName;
    if (applies) return known.get();
  }
  return nullptr;
}

int Priorities::of(const model::Job& job) const {
  if (job.status.gang.charge) return job.status.gang.charge->priority;
  const model::PriorityClass* known = classOf(job);
  return known == nullptr ? 0 : known->value;
}

bool Priorities::mayPreempt(const model::Job& job) const {
  const model::PriorityClass* known = classOf(job);
  return known == nullptr || known->preempts;
}

}  // namespace trainyard::core
