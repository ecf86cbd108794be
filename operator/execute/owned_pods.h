#pragma once

#include "operator/execute/decisions_under_way.h"

namespace trainyard::operator_ {

// GivePlace, SuspendOwner: pods that other controllers make, and their owners.
class OwnedPods {
 public:
  OwnedPods(const ExecutorDependencies& dependencies, DecisionsUnderWay& steps)
      : deps_(dependencies), steps_(steps) {}

  void givePlace(const StepPtr& step, const core::GivePlace& action);
  void suspend(const StepPtr& step, const core::SuspendOwner& action);

 private:
  const ExecutorDependencies& deps_;
  DecisionsUnderWay& steps_;
};

}  // namespace trainyard::operator_
