#pragma once

#include <optional>
#include <vector>

#include "core/cycle/cycle.h"
#include "model/job.h"
#include "model/policy.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// What Prometheus is told of elastic gangs: Dorm's three terms and their bound, resizes by cause and result,
// what they cost, and how far a size was from what was expected of it. No label names a job.
class ResizeMetrics {
 public:
  explicit ResizeMetrics(telemetry::MetricsRegistry& registry);

  // Gauges keep what the last cycle said in which any gang could have had another size.
  void noteSizes(const std::optional<core::SizeTerms>& terms);
  // A status that was written.
  void note(const model::Job& before, const model::JobStatus& after);
  // By which speeds are expected, as the decisions do.
  void setShapeCosts(const std::vector<model::ShapeCost>& costs);

 private:
  void noteResult(const model::Job& before, const model::JobStatus& after);
  void notePause(const model::Job& before, const model::JobStatus& after);
  void noteSpeed(const model::Job& before, const model::JobStatus& after) const;

  telemetry::MetricsRegistry& registry_;
  telemetry::Gauge utilization_;
  telemetry::Gauge fairnessLoss_;
  telemetry::Gauge bound_;
  telemetry::Counter adjustments_;
  telemetry::Histogram speedRatio_;
  std::vector<model::ShapeCost> shapeCosts_;
};

}  // namespace trainyard::operator_
