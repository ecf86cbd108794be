#pragma once

#include "operator/execute/decisions_under_way.h"

namespace trainyard::operator_ {

// NotifyMember: sends running members the size of their job.
class MemberNotices {
 public:
  MemberNotices(const ExecutorDependencies& dependencies, DecisionsUnderWay& steps)
      : deps_(dependencies), steps_(steps) {}

  void run(const StepPtr& step, const core::NotifyMember& action);

 private:
  void send(const StepPtr& step, const core::NotifyMember& action, int conflicts);
  void retry(const StepPtr& step, const core::NotifyMember& action, int conflicts);
  void failed(const StepPtr& step, const core::NotifyMember& action, const base::Error& error);

  const ExecutorDependencies& deps_;
  DecisionsUnderWay& steps_;
};

}  // namespace trainyard::operator_
