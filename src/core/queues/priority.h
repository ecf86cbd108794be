#pragma once

#include "model/snapshot.h"

namespace trainyard::core {

// Value of a job's PriorityClass; without one that of the cluster's default class, else 0. 0 as well for a
// class that was deleted after admission. Of a gang that has its places what it was when it got them.
class Priorities {
 public:
  explicit Priorities(const model::Snapshot& snapshot) : classes_(snapshot.priorityClasses) {}
  [[nodiscard]] int of(const model::Job& job) const;
  // Whether the job may stop anybody: not with preemptionPolicy Never.
  [[nodiscard]] bool mayPreempt(const model::Job& job) const;
  // nullptr where there is none.
  [[nodiscard]] const model::PriorityClass* classOf(const model::Job& job) const;

 private:
  const model::SharedList<model::PriorityClass>& classes_;
};

}  // namespace trainyard::core
