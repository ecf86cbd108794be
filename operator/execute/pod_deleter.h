#pragma once

#include <functional>
#include <map>
#include <utility>

#include "operator/execute/decisions_under_way.h"

namespace trainyard::operator_ {

// DeletePod: deletes or evicts pods by uid, each once for as long as a watch may lag. A pod whose eviction a
// disruption budget has refused for a minute is deleted: no tenant keeps capacity by a budget.
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
  void evict(const core::DeletePod& action, const Sent& sent, const std::function<void(bool good)>& done);
  void checkGone(const core::DeletePod& action, const Sent& sent, const std::function<void(bool good)>& done);

  const ExecutorDependencies& deps_;
  DecisionsUnderWay& steps_;
  std::map<Sent, base::Instant> sent_;           // deletes that the watch may not show yet
  std::map<model::Uid, base::Instant> refused_;  // first refusals of evictions by a budget
};

}  // namespace trainyard::operator_
