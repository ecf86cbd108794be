#include "operator/resize_metrics.h"

#include <algorithm>
#include <string>

#include "core/gang.h"
#include "core/resize.h"

namespace trainyard::operator_ {
namespace {

const std::vector<double> kPauseBounds = {0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60, 180, 600};
const std::vector<double> kRatioBounds = {0.5, 0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.25, 1.5, 2};

double ratio(std::int64_t permille) { return static_cast<double>(permille) / 1000; }

bool aborts(const model::GangRecord& gang) {
  return gang.proposal && gang.proposal->phase == model::ProposalPhase::kAborting;
}

std::string causeOf(model::SizeOwner owner) {
  switch (owner) {
    case model::SizeOwner::kSpec: return "User";
    case model::SizeOwner::kCluster: return "Cluster";
    case model::SizeOwner::kPreemption: return "Preemption";
  }
  return "Unknown";
}

}  // namespace

ResizeMetrics::ResizeMetrics(telemetry::MetricsRegistry& registry)
    : registry_(registry),
      utilization_(registry.gauge(
          "trainyard_resize_utilization_ratio",
          "GPUs that are held once the last decision on sizes is in effect, as a part of all.")),
      fairnessLoss_(registry.gauge("trainyard_resize_fairness_loss_ratio",
                                   "Distance of elastic gangs from their fair shares at the last decision on "
                                   "sizes: the sum of differences, as a part of its maximum.")),
      bound_(
          registry.gauge("trainyard_resize_bound_ratio",
                         "Value of the last decision on sizes, as a part of an upper bound for all sizes.")),
      adjustments_(registry.counter("trainyard_resize_adjustments_total",
                                    "Gangs that were resized by decision of the cluster.")),
      speedRatio_(registry.histogram(
          "trainyard_resize_speed_ratio",
          "Speed that a job first reported at a size, as a part of the speed predicted from its other sizes.",
          kRatioBounds)) {}

void ResizeMetrics::noteSizes(const std::optional<core::SizeTerms>& terms) {
  if (!terms) return;
  utilization_.set(ratio(terms->utilizationPermille));
  fairnessLoss_.set(ratio(terms->fairnessLossPermille));
  bound_.set(ratio(terms->boundPermille));
  adjustments_.increment(terms->adjustments);
}

void ResizeMetrics::setShapeCosts(const std::vector<model::ShapeCost>& costs) {
  if (shapeCosts_ != costs) shapeCosts_ = costs;
}

void ResizeMetrics::note(const model::Job& before, const model::JobStatus& after) {
  if (!before.spec.elastic) return;
  noteResult(before, after);
  notePause(before, after);
  noteSpeed(before, after);
}

void ResizeMetrics::noteResult(const model::Job& before, const model::JobStatus& after) {
  const auto was = core::resizeUnderWay(before.spec, before.status.gang);
  const auto is = core::resizeUnderWay(before.spec, after.gang);
  if (!was) return;
  const bool failed = is && aborts(after.gang) && !aborts(before.status.gang);
  const bool done = !is && !aborts(before.status.gang) && after.gang.placed;
  if (!failed && !done) return;
  registry_
      .counter("trainyard_resizes_total",
               "Resizes of gangs, by origin of the decision (User, Cluster, Preemption), direction, way and "
               "outcome.",
               {{"cause", causeOf(before.status.resize.decidedBy)},
                {"direction", was->to > was->from ? "Grow" : "Shrink"},
                {"way", was->byRestart ? "Restart" : "Live"},
                {"outcome", done ? "Resized" : "GivenUp"}})
      .increment();
}

// The newest pause comes first in the list.
void ResizeMetrics::notePause(const model::Job& before, const model::JobStatus& after) {
  const auto& was = before.status.resize.lastPauseMillis;
  const auto& is = after.resize.lastPauseMillis;
  if (is.empty() || is == was) return;
  const bool byRestart = core::resizeMethod(before.spec) == core::ResizeMethod::kByRestart;
  registry_
      .histogram("trainyard_resize_pause_seconds",
                 "How long all members of a gang paused for a resize, by way; for live resizes as the gang "
                 "reports it.",
                 kPauseBounds, {{"way", byRestart ? "Restart" : "Live"}})
      .observe(static_cast<double>(is.front()) / 1000);
}

void ResizeMetrics::noteSpeed(const model::Job& before, const model::JobStatus& after) const {
  if (after.resize.speeds.empty()) return;
  const model::SpeedPoint& latest = after.resize.speeds.front();
  const auto knew = [&](const std::vector<model::SpeedPoint>& points) {
    return std::any_of(points.begin(), points.end(),
                       [&](const auto& each) { return each.replicas == latest.replicas; });
  };
  if (knew(before.status.resize.speeds) || knew(before.spec.elastic->speeds)) return;
  const auto expected = core::expectedSpeed(before, latest.replicas, shapeCosts_);
  if (expected && *expected > 0)
    speedRatio_.observe(static_cast<double>(latest.milliSamplesPerSecond) / *expected);
}

}  // namespace trainyard::operator_
