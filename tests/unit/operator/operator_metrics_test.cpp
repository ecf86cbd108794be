#include "operator/operator_metrics.h"

#include <memory>

#include <catch2/catch.hpp>

namespace trainyard::operator_ {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  telemetry::MetricsRegistry registry;
  OperatorMetrics metrics{registry};

  [[nodiscard]] bool says(const std::string& sample) const {
    return registry.text().find(sample + "\n") != std::string::npos;
  }
};

TEST_CASE("Waiting is counted by cause when a stretch of it is over") {
  Fixture fixture;
  CHECK(fixture.says("trainyard_job_delay_seconds_total{cause=\"FairShare\"} 0"));
  model::Job before;
  before.status.delays = {10s, 5s};
  model::JobStatus after = before.status;
  after.delays = {70s, 5s};
  fixture.metrics.noteTransition(before, after, {});
  fixture.metrics.noteTransition(before, before.status, {});
  CHECK(fixture.says("trainyard_job_delay_seconds_total{cause=\"FairShare\"} 60"));
  CHECK(fixture.says("trainyard_job_delay_seconds_total{cause=\"Fragmentation\"} 0"));
}

TEST_CASE("Queues are told by name, and count nothing once they are gone") {
  Fixture fixture;
  model::Queue vision;
  vision.name = model::QueueName("vision");
  vision.status.usage.set("nvidia.com/gpu", 24);
  vision.status.share = 125;
  vision.status.fairShare = 333;
  vision.status.waiting = 2;
  vision.status.admitted = 5;
  model::Snapshot snapshot;
  snapshot.queues.push_back(std::make_shared<const model::Queue>(vision));
  fixture.metrics.describe(snapshot);
  CHECK(fixture.says("trainyard_queue_gpus{queue=\"vision\"} 24"));
  CHECK(fixture.says("trainyard_queue_share_permille{queue=\"vision\"} 125"));
  CHECK(fixture.says("trainyard_queue_fair_share_permille{queue=\"vision\"} 333"));
  CHECK(fixture.says("trainyard_queue_waiting_jobs{queue=\"vision\"} 2"));
  CHECK(fixture.says("trainyard_queue_admitted_jobs{queue=\"vision\"} 5"));
  // What the operator says of all that are GPUs goes before one name.
  vision.status.gpus = model::QueueGpus{.used = 31};
  snapshot.queues.edit()[0] = std::make_shared<const model::Queue>(vision);
  fixture.metrics.describe(snapshot);
  CHECK(fixture.says("trainyard_queue_gpus{queue=\"vision\"} 31"));
  fixture.metrics.describe({});
  CHECK(fixture.says("trainyard_queue_gpus{queue=\"vision\"} 0"));
}

TEST_CASE(
    "GPU time of failed starts is lost, and as much is saved where another one would have been in vain") {
  Fixture fixture;
  model::Job before;
  before.status.gpus = 8;
  before.status.conditions = {{"Running", model::ConditionStatus::kTrue, "", "", base::WallTime{}, 1}};
  model::JobStatus after = before.status;
  model::LastFailure& last = after.lastFailure.emplace();
  const auto fail = [&](model::FailureClass failure, const char* action) {
    last.failure = failure;
    last.action = action;
    fixture.metrics.noteTransition(before, after, base::WallTime{} + 100s);
  };
  fail(model::FailureClass::kImportError, "Failed");
  fail(model::FailureClass::kNcclError, "Restarted");
  fail(model::FailureClass::kCudaError, "Failed");
  fail(model::FailureClass::kDeadlineExceeded, "Failed");
  CHECK(fixture.says("trainyard_failed_gpu_seconds_total{class=\"ImportError\"} 800"));
  CHECK(fixture.says("trainyard_failed_gpu_seconds_total{class=\"NcclError\"} 800"));
  CHECK(fixture.says("trainyard_saved_gpu_seconds_total{class=\"ImportError\"} 800"));
  const std::string text = fixture.registry.text();
  for (const char* none : {"NcclError", "CudaError", "DeadlineExceeded"})
    CHECK(text.find(std::string("trainyard_saved_gpu_seconds_total{class=\"") + none) == std::string::npos);
}

TEST_CASE("jobs that report and jobs that stall are counted, without a label of theirs") {
  Fixture fixture;
  model::Snapshot snapshot;
  snapshot.now = base::WallTime{} + 10'000s;
  const auto add = [&](std::optional<std::chrono::seconds> reported, bool stalled) {
    model::Job job;
    job.status.gang.placed.emplace();
    if (reported) job.status.progress = model::Progress{.at = snapshot.now - *reported};
    if (stalled)
      job.status.conditions = {{"Stalled", model::ConditionStatus::kTrue, "", "", snapshot.now, 1}};
    snapshot.jobs.push_back(std::make_shared<const model::Job>(job));
  };
  add(5s, false);
  add(700s, true);
  add(std::nullopt, false);
  fixture.metrics.describe(snapshot);
  CHECK(fixture.says("trainyard_reporting_jobs 1"));
  CHECK(fixture.says("trainyard_stalled_jobs 1"));
}

}  // namespace
}  // namespace trainyard::operator_
