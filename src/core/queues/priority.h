#pragma once

#include "model/snapshot.h"

namespace trainyard::core {

// The value of a job's PriorityClass; without one that of the cluster's default class, else 0; also 0 for a
// class that was deleted after admission. A placed gang keeps the priority that it had when it was placed.
class Priorities {
 public:
  explicit Priorities(const model::Snapshot& snapshot) : classes_(snapshot.priorityClasses) {}
  [[nodiscard]] int of(const model::Job& job) const;
  // Whether the job may preempt others: not with preemptionPolicy Never.
  [[nodiscard]] bool mayPreempt(const model::Job& job) const;
  // nullptr if the job has no class.
  [[nodiscard]] const model::PriorityClass* classOf(const model::Job& job) const;

 private:
  const model::SharedList<model::PriorityClass>& classes_;
};

}  // namespace trainyard::core
