#include "operator/resize_metrics.h"

#include <string>

#include <catch2/catch.hpp>

#include "core/resize.h"
#include "support/builders.h"

namespace trainyard::operator_ {
namespace {

using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

struct Fixture {
  telemetry::MetricsRegistry registry;
  ResizeMetrics metrics{registry};

  [[nodiscard]] bool hasLine(const std::string& sample) const {
    return registry.text().find(sample + "\n") != std::string::npos;
  }
};

model::Job elasticJob() {
  model::Job each = job("ml/bert").role("worker", 2, gpus(4)).placed("n1", "worker", "0-1");
  each.spec.framework = model::Framework::kPyTorch;
  each.spec.elastic.emplace();
  each.spec.elastic->role = "worker";
  each.spec.elastic->minReplicas = 1;
  each.spec.elastic->replicas = 2;
  each.spec.elastic->maxReplicas = 8;
  return each;
}

TEST_CASE("Dorm's three terms are those of the last decision and adjustments add up") {
  Fixture fixture;
  fixture.metrics.noteSizes(core::SizeTerms{750, 40, 2, 990});
  fixture.metrics.noteSizes(std::nullopt);
  fixture.metrics.noteSizes(core::SizeTerms{875, 30, 1, 995});
  CHECK(fixture.hasLine("trainyard_resize_utilization_ratio 0.875"));
  CHECK(fixture.hasLine("trainyard_resize_fairness_loss_ratio 0.03"));
  CHECK(fixture.hasLine("trainyard_resize_bound_ratio 0.995"));
  CHECK(fixture.hasLine("trainyard_resize_adjustments_total 3"));
}

TEST_CASE("A resize is counted by its cause and its outcome") {
  Fixture fixture;
  model::Job each = elasticJob();
  each.status.resize.decidedBy = model::SizeOwner::kCluster;
  const model::JobStatus placed = each.status;
  each.status.gang.proposal.emplace();
  each.status.gang.proposal->kind = model::ProposalKind::kGrow;
  each.status.gang.proposal->phase = model::ProposalPhase::kReserved;
  each.status.gang.proposal->add = {{model::NodeName("n2"), "worker", model::IndexSet({2, 3}), 2}};
  fixture.metrics.note(each, placed);
  CHECK(
      fixture.hasLine("trainyard_resizes_total{cause=\"Cluster\",direction=\"Grow\",outcome=\"Resized\",way="
                      "\"Live\"} 1"));
  model::JobStatus aborting = each.status;
  aborting.gang.proposal->phase = model::ProposalPhase::kAborting;
  each.status.resize.decidedBy = model::SizeOwner::kSpec;
  fixture.metrics.note(each, aborting);
  CHECK(fixture.hasLine(
      "trainyard_resizes_total{cause=\"User\",direction=\"Grow\",outcome=\"GivenUp\",way=\"Live\"} 1"));
}

TEST_CASE("Pauses and first speeds are observed once") {
  Fixture fixture;
  model::Job each = elasticJob();
  each.status.resize.speeds = {{2, 1'000}};
  model::JobStatus after = each.status;
  fixture.metrics.note(each, after);
  CHECK(fixture.hasLine("trainyard_resize_speed_ratio_count 0"));
  after.resize.lastPauseMillis = {500};
  const double expected = core::expectedSpeed(each, 4, {}).value_or(0);
  after.resize.speeds = {{4, static_cast<std::int64_t>(expected / 2)}, {2, 1'000}};
  fixture.metrics.note(each, after);
  CHECK(fixture.hasLine("trainyard_resize_pause_seconds_sum{way=\"Live\"} 0.5"));
  CHECK(fixture.hasLine("trainyard_resize_speed_ratio_count 1"));
  CHECK(fixture.hasLine("trainyard_resize_speed_ratio_bucket{le=\"0.5\"} 1"));
  // The next report of that size is not a first one.
  each.status = after;
  after.resize.speeds.front().milliSamplesPerSecond += 5;
  fixture.metrics.note(each, after);
  CHECK(fixture.hasLine("trainyard_resize_speed_ratio_count 1"));
  CHECK(fixture.hasLine("trainyard_resize_pause_seconds_count{way=\"Live\"} 1"));
}

}  // namespace
}  // namespace trainyard::operator_
