#pragma once

#include <optional>
#include <vector>

#include "core/cycle/cycle.h"
#include "model/job.h"
#include "model/policy.h"
#include "telemetry/metrics.h"

namespace trainyard::operator_ {

// Metrics of elastic gangs: Dorm's three terms and their bound, resizes by cause and result, their cost, and
// the speed at a size against the expected speed. No label names a job.
class ResizeMetrics {
 public:
  explicit ResizeMetrics(telemetry::MetricsRegistry& registry);

  // Gauges keep the values of the last cycle in which any gang could have had another size.
  void noteSizes(const std::optional<core::SizeTerms>& terms);
  // Records a status write.
  void note(const model::Job& before, const model::JobStatus& after);
  // Costs from which speeds are expected, as in the decisions.
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
