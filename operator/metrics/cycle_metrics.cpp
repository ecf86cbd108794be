#include "operator/metrics/cycle_metrics.h"

#include <chrono>
#include <vector>

namespace trainyard::operator_ {
namespace {

const std::vector<double> kCycleBounds = {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5};

double seconds(base::Instant::duration duration) { return std::chrono::duration<double>(duration).count(); }

telemetry::Histogram cyclePart(telemetry::MetricsRegistry& registry, const char* phase) {
  return registry.histogram(
      "trainyard_cycle_phase_duration_seconds",
      "Time of one scheduling cycle by phase: reading caches, planning, handing over the writes.",
      kCycleBounds, {{"phase", phase}});
}

}  // namespace

CycleMetrics::CycleMetrics(telemetry::MetricsRegistry& registry)
    : cycles_(registry.counter("trainyard_cycles_total", "Scheduling cycles run.")),
      cycleSeconds_(registry.histogram("trainyard_cycle_duration_seconds", "Time of one scheduling cycle.",
                                       kCycleBounds)),
      snapshotSeconds_(cyclePart(registry, "snapshot")),
      planSeconds_(cyclePart(registry, "plan")),
      applySeconds_(cyclePart(registry, "apply")),
      fairnessLoss_(registry.gauge("trainyard_fairness_loss_ratio",
                                   "Distance of queues from their fair shares: the sum of differences, as a "
                                   "part of its maximum, twice the cluster.")) {}

void CycleMetrics::note(const CycleParts& parts) {
  cycles_.increment();
  cycleSeconds_.observe(seconds(parts.snapshot + parts.plan + parts.apply));
  snapshotSeconds_.observe(seconds(parts.snapshot));
  planSeconds_.observe(seconds(parts.plan));
  applySeconds_.observe(seconds(parts.apply));
}

void CycleMetrics::noteFairness(std::int64_t lossPermille) {
  fairnessLoss_.set(static_cast<double>(lossPermille) / 1000);
}

}  // namespace trainyard::operator_
