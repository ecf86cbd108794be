#include "operator/operator_metrics.h"

#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "model/conditions.h"

namespace trainyard::operator_ {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  telemetry::MetricsRegistry registry;
  OperatorMetrics metrics{registry};

  [[nodiscard]] bool hasLine(const std::string& sample) const {
    return registry.text().find(sample + "\n") != std::string::npos;
  }
  [[nodiscard]] bool tells(const std::string& words) const {
    return registry.text().find(words) != std::string::npos;
  }
};

TEST_CASE("Waiting is counted by cause when an interval of it is over") {
  Fixture fixture;
  CHECK(fixture.hasLine("trainyard_job_delay_seconds_total{cause=\"FairShare\"} 0"));
  model::Job before;
  before.status.delays = {10s, 5s};
  model::JobStatus after = before.status;
  after.delays = {70s, 5s};
  fixture.metrics.noteTransition(before, after, {});
  fixture.metrics.noteTransition(before, before.status, {});
  CHECK(fixture.hasLine("trainyard_job_delay_seconds_total{cause=\"FairShare\"} 60"));
  CHECK(fixture.hasLine("trainyard_job_delay_seconds_total{cause=\"Fragmentation\"} 0"));
}

TEST_CASE("Queues are exported by name until they are deleted") {
  Fixture fixture;
  model::Queue vision;
  vision.name = model::QueueName("vision");
  vision.status.usage.set("nvidia.com/gpu", 24);
  vision.status.share = 125;
  vision.status.fairShare = 333;
  vision.status.waiting = 2;
  vision.status.placed = 5;
  model::Snapshot snapshot;
  snapshot.queues.push_back(std::make_shared<const model::Queue>(vision));
  fixture.metrics.describe(snapshot);
  CHECK(fixture.hasLine("trainyard_queue_gpus{queue=\"vision\"} 24"));
  CHECK(fixture.hasLine("trainyard_queue_share_ratio{queue=\"vision\"} 0.125"));
  CHECK(fixture.hasLine("trainyard_queue_fair_share_ratio{queue=\"vision\"} 0.333"));
  CHECK(fixture.hasLine("trainyard_queue_waiting_jobs{queue=\"vision\"} 2"));
  CHECK(fixture.hasLine("trainyard_queue_placed_jobs{queue=\"vision\"} 5"));
  // The operator's count of all GPUs takes precedence over one resource name.
  vision.status.gpus = model::QueueGpus{.used = 31};
  snapshot.queues.edit()[0] = std::make_shared<const model::Queue>(vision);
  fixture.metrics.describe(snapshot);
  CHECK(fixture.hasLine("trainyard_queue_gpus{queue=\"vision\"} 31"));
  vision.status.gpus = model::QueueGpus{.used = 31, .guaranteed = 40};
  snapshot.queues.edit()[0] = std::make_shared<const model::Queue>(vision);
  fixture.metrics.describe(snapshot);
  CHECK(fixture.hasLine("trainyard_queue_guarantee_deficit_gpus{queue=\"vision\"} 9"));
  fixture.metrics.describe({});
  CHECK_FALSE(fixture.tells("queue=\"vision\""));
}

TEST_CASE("Queues that are created and deleted do not lock new ones out") {
  Fixture fixture;
  for (std::size_t i = 0; i < telemetry::MetricsRegistry::kMaxSeries + 5; ++i) {
    model::Queue queue;
    queue.name = model::QueueName("q" + std::to_string(i));
    model::Snapshot snapshot;
    snapshot.queues.push_back(std::make_shared<const model::Queue>(queue));
    fixture.metrics.describe(snapshot);
  }
  CHECK(fixture.hasLine("trainyard_queue_gpus{queue=\"q504\"} 0"));
  CHECK(fixture.hasLine("trainyard_dropped_series_total 0"));
}

const base::WallTime kStart{std::chrono::hours(1000)};

model::Job waitingJob() {
  model::Job job;
  job.uid = model::Uid("u1");
  job.created = kStart;
  job.spec.queue = model::QueueName("vision");
  return job;
}

model::Proposal proposalOf(const std::string& id) {
  model::Proposal proposal;
  proposal.id = id;
  return proposal;
}

// Sets the status at `now` and notes the transition.
void become(Fixture& fixture, model::Job& job, const model::JobStatus& after, base::WallTime now) {
  fixture.metrics.noteTransition(job, after, now);
  job.status = after;
}

TEST_CASE("A job's placement is observed once and its waits each time") {
  Fixture fixture;
  model::Job job = waitingJob();
  model::JobStatus status = job.status;
  status.gang.placed = model::Placed{.epoch = 1, .assignments = {}};
  status.service.updatedAt = kStart + 30s;
  become(fixture, job, status, kStart + 30s);
  status.gang.placed.reset();
  status.conditions = {{.type = std::string(model::conditions::kQueued),
                        .status = model::ConditionStatus::kTrue,
                        .reason = {},
                        .message = {},
                        .lastTransition = kStart + 1000s,
                        .observedGeneration = 0}};
  become(fixture, job, status, kStart + 1000s);
  status.gang.placed = model::Placed{.epoch = 2, .assignments = {}};
  become(fixture, job, status, kStart + 1004s);
  CHECK(fixture.hasLine("trainyard_job_placement_seconds_count 1"));
  CHECK(fixture.hasLine("trainyard_job_placement_seconds_sum 30"));
  CHECK(fixture.hasLine("trainyard_job_wait_seconds_count{queue=\"vision\"} 2"));
  CHECK(fixture.hasLine("trainyard_job_wait_seconds_sum{queue=\"vision\"} 34"));
  fixture.metrics.describe({});
  CHECK_FALSE(fixture.tells("queue=\"vision\""));
}

TEST_CASE("A single-pod job is observed when its record is written") {
  Fixture fixture;
  model::Job job = waitingJob();
  job.status.gang.placed = model::Placed{.epoch = 1, .assignments = {}};
  job.recordUnwritten = true;
  model::JobStatus status = job.status;
  become(fixture, job, status, kStart + 2s);
  CHECK(fixture.hasLine("trainyard_job_placement_seconds_count 1"));
}

TEST_CASE("The phases of a change are timed and the oldest one under way is exported") {
  Fixture fixture;
  model::Job job = waitingJob();
  model::JobStatus status = job.status;
  status.gang.proposal = proposalOf("p1");
  become(fixture, job, status, kStart);
  status.gang.proposal->phase = model::ProposalPhase::kReleasing;
  become(fixture, job, status, kStart + 2s);
  model::Snapshot snapshot;
  snapshot.now = kStart + 3s;
  snapshot.jobs.push_back(std::make_shared<const model::Job>(job));
  fixture.metrics.describe(snapshot);
  CHECK(fixture.hasLine("trainyard_oldest_proposal_timestamp_seconds 3600000"));
  status.gang.proposal.reset();
  become(fixture, job, status, kStart + 7s);
  CHECK(fixture.hasLine("trainyard_gang_changes_total{kind=\"Start\"} 1"));
  CHECK(fixture.hasLine("trainyard_gang_phase_duration_seconds_sum{phase=\"Reserved\"} 2"));
  CHECK(fixture.hasLine("trainyard_gang_phase_duration_seconds_sum{phase=\"Releasing\"} 5"));
  fixture.metrics.describe({});
  CHECK(fixture.hasLine("trainyard_oldest_proposal_timestamp_seconds 0"));
}

TEST_CASE("Ends of placed gangs are counted by cause") {
  Fixture fixture;
  model::Job job = waitingJob();
  job.status.gang.placed = model::Placed{.epoch = 1, .assignments = {}};
  model::JobStatus status = job.status;
  status.preemptions.count = 1;
  become(fixture, job, status, kStart);
  job.status.gang.proposal = proposalOf("p1");
  job.status.gang.proposal->movesFor = model::ObjectKey{"ml", "claiming"};
  status.preemptions.count = 2;
  become(fixture, job, status, kStart);
  status.restarts.add(model::FailureClass::kUnknown, true);
  become(fixture, job, status, kStart);
  status.conditions = {{.type = std::string(model::conditions::kSuspended),
                        .status = model::ConditionStatus::kTrue,
                        .reason = {},
                        .message = {},
                        .lastTransition = kStart,
                        .observedGeneration = 0}};
  become(fixture, job, status, kStart);
  for (const char* cause : {"Preempted", "Moved", "Failed", "Suspended"}) {
    CHECK(fixture.hasLine("trainyard_gang_stops_total{cause=\"" + std::string(cause) + "\"} 1"));
  }
}

TEST_CASE("GPU time of failed starts is lost and as much is saved where a restart would have failed again") {
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
  CHECK(fixture.hasLine("trainyard_failed_gpu_seconds_total{class=\"ImportError\"} 800"));
  CHECK(fixture.hasLine("trainyard_failed_gpu_seconds_total{class=\"NcclError\"} 800"));
  CHECK(fixture.hasLine("trainyard_saved_gpu_seconds_total{class=\"ImportError\"} 800"));
  const std::string text = fixture.registry.text();
  for (const char* none : {"NcclError", "CudaError", "DeadlineExceeded"})
    CHECK(text.find(std::string("trainyard_saved_gpu_seconds_total{class=\"") + none) == std::string::npos);
}

TEST_CASE("jobs that report and jobs that stall are counted without a label of theirs") {
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
  CHECK(fixture.hasLine("trainyard_reporting_jobs 1"));
  CHECK(fixture.hasLine("trainyard_stalled_jobs 1"));
}

}  // namespace
}  // namespace trainyard::operator_
