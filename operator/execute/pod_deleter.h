#pragma once

#include <functional>
#include <map>
#include <utility>

#include "operator/execute/decisions_under_way.h"

namespace trainyard::operator_ {

// DeletePod: deletes pods by uid, each once for as long as a watch may lag.
class PodDeleter {
 public:
  PodDeleter(const ExecutorDependencies& dependencies, DecisionsUnderWay& steps)
      : deps_(dependencies), steps_(steps) {}

  // `done` gets true if the pod is being deleted or gone.
  void remove(const core::DeletePod& action, std::function<void(bool good)> done);
  void forgetOld();

 private:
  using Sent = std::pair<model::Uid, bool>;  // and whether it was forced

  void strip(const core::DeletePod& action, const Sent& sent, const std::function<void(bool good)>& done);
  void checkGone(const core::DeletePod& action, const Sent& sent, const std::function<void(bool good)>& done);

  const ExecutorDependencies& deps_;
  DecisionsUnderWay& steps_;
  std::map<Sent, base::Instant> sent_;  // deletes that the watch may not show yet
};

}  // namespace trainyard::operator_
