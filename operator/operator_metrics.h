#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "core/cycle/cycle.h"
#include "model/snapshot.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// What the operator tells Prometheus. Labels are closed sets: phases, reasons, resource types, and the
// queues, which administrators name; never names of jobs.
class OperatorMetrics {
 public:
  explicit OperatorMetrics(telemetry::MetricsRegistry& registry);

  void setLeading(bool leading);
  void countWrite(std::string_view resource);
  void noteCycle(base::Instant::duration cost);
  // Jobs, GPUs and queues as they are now. Looks at every job: not for every cycle.
  void describe(const model::Snapshot& snapshot);
  // A status that was written: counts placements, aborts, endings and waiting by cause, and how long they
  // took.
  void noteTransition(const model::Job& before, const model::JobStatus& after, base::WallTime now);

 private:
  void noteResize(const model::Job& before, const model::JobStatus& after);
  void noteFailure(const model::JobStatus& before, const model::JobStatus& after, base::WallTime now);
  using GaugesByLabel = std::map<std::string, telemetry::Gauge, std::less<>>;
  void describeQueues(const model::Snapshot& snapshot);
  void publish(GaugesByLabel& gauges, const std::map<std::string, int>& counts, std::string_view name,
               std::string_view help, const std::string& label);

  telemetry::MetricsRegistry& registry_;
  telemetry::Gauge leader_;
  telemetry::Counter cycles_;
  telemetry::Histogram cycleSeconds_;
  telemetry::Histogram placementSeconds_;
  telemetry::Counter aborts_;
  telemetry::Gauge gpusAllocatable_;
  telemetry::Gauge gpusPlaced_;
  telemetry::Gauge suspectedNodes_;
  GaugesByLabel jobsByPhase_;
  GaugesByLabel waitingByReason_;
  telemetry::Counter fairShareDelay_;
  telemetry::Counter fragmentationDelay_;
  GaugesByLabel queueGpus_;
  GaugesByLabel queueShare_;
  GaugesByLabel queueFairShare_;
  GaugesByLabel queueWaiting_;
  GaugesByLabel queueAdmitted_;
  std::map<std::string, telemetry::Counter, std::less<>> writes_;
};

}  // namespace trainyard::operator_
