#pragma once

#include <cstdint>

#include "base/time.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// The parts of one cycle as the operator runs it: reading the caches, planning in the core, and handing the
// plan to the executor.
struct CycleParts {
  base::Instant::duration snapshot{};
  base::Instant::duration plan{};
  base::Instant::duration apply{};
};

// Metrics of cycles: how many there are, how long they take, and how fair the cluster is after the last one.
class CycleMetrics {
 public:
  explicit CycleMetrics(telemetry::MetricsRegistry& registry);

  void note(const CycleParts& parts);
  void noteFairness(std::int64_t lossPermille);

 private:
  telemetry::Counter cycles_;
  telemetry::Histogram cycleSeconds_;
  telemetry::Histogram snapshotSeconds_;
  telemetry::Histogram planSeconds_;
  telemetry::Histogram applySeconds_;
  telemetry::Gauge fairnessLoss_;
};

}  // namespace trainyard::operator_
