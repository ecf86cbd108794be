#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/executor.h"
#include "operator/cluster_view.h"
#include "operator/free_gpu_metrics.h"
#include "operator/operator_metrics.h"

namespace trainyard::operator_ {

// Reports the state of the cluster to Prometheus a moment after it changed: this visits every job.
class MetricsRefresher {
 public:
  MetricsRefresher(base::Executor& executor, const ClusterView& cluster, OperatorMetrics& metrics,
                   FreeGpuMetrics& freeGpus)
      : executor_(executor), cluster_(cluster), metrics_(metrics), freeGpus_(freeGpus) {}
  ~MetricsRefresher() { *alive_ = false; }
  MetricsRefresher(const MetricsRefresher&) = delete;
  MetricsRefresher& operator=(const MetricsRefresher&) = delete;

  // Call after a change.
  void changed();

 private:
  base::Executor& executor_;
  const ClusterView& cluster_;
  OperatorMetrics& metrics_;
  FreeGpuMetrics& freeGpus_;
  bool due_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
