#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "base/executor.h"
#include "model/snapshot.h"
#include "operator/evidence_collector.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// Reports to Prometheus how many GPUs are free and how many of them are unusable fragments. The computation
// compares every node with every shape of member, so it runs in `offload`, at most once in kEvery. The object
// itself lives on the executor's loop.
class FreeGpuMetrics {
 public:
  static constexpr std::chrono::seconds kEvery{10};

  FreeGpuMetrics(telemetry::MetricsRegistry& registry, base::Executor& executor, Offload offload,
                 std::function<model::Snapshot()> snapshot);
  ~FreeGpuMetrics() { *alive_ = false; }
  FreeGpuMetrics(const FreeGpuMetrics&) = delete;
  FreeGpuMetrics& operator=(const FreeGpuMetrics&) = delete;

  // Call after a change. The next report is no older than this call.
  void changed();

 private:
  void look();

  telemetry::Gauge free_;
  telemetry::Gauge fragmentation_;
  base::Executor& executor_;
  Offload offload_;
  std::function<model::Snapshot()> snapshot_;
  bool due_ = false;      // a computation is scheduled
  bool looking_ = false;  // a computation is under way
  base::Instant next_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
