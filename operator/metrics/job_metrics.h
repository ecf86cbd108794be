#pragma once

#include <map>
#include <string>
#include <string_view>

#include "model/snapshot.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// Gauges of jobs, GPUs and suspected nodes, as they are now.
class JobMetrics {
 public:
  explicit JobMetrics(telemetry::MetricsRegistry& registry);

  void describe(const model::Snapshot& snapshot);

 private:
  using GaugesByLabel = std::map<std::string, telemetry::Gauge, std::less<>>;

  // For phases and reasons: values without a job become 0.
  void publish(GaugesByLabel& gauges, const std::map<std::string, int>& counts, std::string_view name,
               std::string_view help, const std::string& label);

  telemetry::MetricsRegistry& registry_;
  telemetry::Gauge gpusAllocatable_;
  telemetry::Gauge gpusPlaced_;
  telemetry::Gauge suspectedNodes_;
  telemetry::Gauge reportingJobs_;
  telemetry::Gauge stalledJobs_;
  GaugesByLabel byPhase_;
  GaugesByLabel byReason_;
};

}  // namespace trainyard::operator_
