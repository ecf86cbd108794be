#pragma once

#include <functional>
#include <memory>

#include "base/executor.h"
#include "core/autoscaling/nodes_wanted.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "operator/job_events.h"
#include "operator/nodes/nodes_metrics.h"

namespace trainyard::operator_ {

enum class ConditionWrite {
  kDone,
  kNotDone,  // may succeed when repeated
  kNoJob,    // the job does not exist any more
};

// The condition NodesRequested of jobs, with its Events.
class NodesCondition {
 public:
  NodesCondition(kube::ApiClient& api, base::Executor& executor, kube::ClusterCache& cache, JobEvents& events,
                 NodesMetrics& metrics)
      : api_(api), executor_(executor), cache_(cache), events_(events), metrics_(metrics) {}
  ~NodesCondition() { *alive_ = false; }
  NodesCondition(const NodesCondition&) = delete;
  NodesCondition& operator=(const NodesCondition&) = delete;

  void write(const std::shared_ptr<const model::Job>& job, const core::NodesReport& report,
             std::function<void(ConditionWrite)> done);

 private:
  void recordEvent(const model::Job& job, const core::NodesReport& report);

  kube::ApiClient& api_;
  base::Executor& executor_;
  kube::ClusterCache& cache_;
  JobEvents& events_;
  NodesMetrics& metrics_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// Returns true if the job's condition is as the report describes it.
[[nodiscard]] bool isReported(const model::Job& job, const core::NodesReport& report);

}  // namespace trainyard::operator_
