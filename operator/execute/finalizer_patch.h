#pragma once

#include <string>

#include "operator/execute/decisions_under_way.h"

namespace trainyard::operator_ {

// AddFinalizer, RemoveFinalizer: the finalizer that keeps a job until its pods are gone.
class FinalizerPatch {
 public:
  FinalizerPatch(const ExecutorDependencies& dependencies, DecisionsUnderWay& steps)
      : deps_(dependencies), steps_(steps) {}

  // `present`: whether the job has it afterwards.
  void run(const StepPtr& step, bool present);

 private:
  void reread(const StepPtr& step, bool present, const std::string& patchedFrom);

  const ExecutorDependencies& deps_;
  DecisionsUnderWay& steps_;
};

}  // namespace trainyard::operator_
