#pragma once

#include <memory>
#include <optional>

#include "base/executor.h"
#include "kube/cluster_cache.h"
#include "operator/nodes/api_calls.h"
#include "operator/nodes/found_request.h"

namespace trainyard::operator_ {

// Requests by placeholder pods: pods like the job's members that no scheduler binds, marked as unschedulable.
class PlaceholderPods {
 public:
  PlaceholderPods(kube::ApiClient& api, base::Executor& executor, kube::ClusterCache& cache)
      : api_(api), executor_(executor), cache_(cache) {}
  ~PlaceholderPods() { *alive_ = false; }
  PlaceholderPods(const PlaceholderPods&) = delete;
  PlaceholderPods& operator=(const PlaceholderPods&) = delete;

  // `attempt`: the number of the request if there is one; pods do not record it.
  [[nodiscard]] std::optional<FoundRequest> find(const model::Job& job, int attempt) const;
  // Empty if all exist, or foreign pods have their names.
  [[nodiscard]] ApiCalls creation(const std::shared_ptr<const model::Job>& job, int attempt);
  [[nodiscard]] ApiCalls removal(const FoundRequest& found);
  // After their removal, before the watch reports it.
  void forget(const FoundRequest& found);

 private:
  [[nodiscard]] kube::ApiCallback cached(kube::ApiCallback done);

  kube::ApiClient& api_;
  base::Executor& executor_;
  kube::ClusterCache& cache_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// Returns true if placeholders are missing or unmarked, because the process that made them ended too early.
[[nodiscard]] bool isIncomplete(const model::Job& job, const FoundRequest& found);

}  // namespace trainyard::operator_
