#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "base/executor.h"
#include "model/snapshot.h"
#include "operator/evidence_collector.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// Tells Prometheus how many GPUs are free and how much of them is of no use to anybody. That looks at every
// node with every shape of member that there is: once in kEvery at most, where nobody waits for it.
// Lives on the executor's loop.
class FreeGpuMetrics {
 public:
  static constexpr std::chrono::seconds kEvery{10};

  FreeGpuMetrics(telemetry::MetricsRegistry& registry, base::Executor& executor, Offload offload,
                 std::function<model::Snapshot()> snapshot);
  ~FreeGpuMetrics() { *alive_ = false; }
  FreeGpuMetrics(const FreeGpuMetrics&) = delete;
  FreeGpuMetrics& operator=(const FreeGpuMetrics&) = delete;

  // Something has changed; what is told next is no older than this.
  void changed();

 private:
  void look();

  telemetry::Gauge free_;
  telemetry::Gauge fragmentation_;
  base::Executor& executor_;
  Offload offload_;
  std::function<model::Snapshot()> snapshot_;
  bool due_ = false;      // a look is on its way
  bool looking_ = false;  // and one is under way elsewhere
  base::Instant next_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
