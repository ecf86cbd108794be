// How tools that use kstatus (sigs.k8s.io/cli-utils, pkg/kstatus/status: generic.go and the last part of
// Compute()) interpret Trainyard's statuses: its rules are reimplemented here one by one.

#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "core/cycle/cycle.h"
#include "core/status/job_status.h"
#include "model/conditions.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

template <typename Status>
std::string kstatusOf(std::int64_t generation, const Status& status) {
  if (status.observedGeneration != 0 && status.observedGeneration != generation) return "InProgress";
  for (const model::Condition& each : status.conditions) {
    if (each.status != model::ConditionStatus::kTrue) continue;
    if (each.type == "Reconciling") return "InProgress";
    if (each.type == "Stalled") return "Failed";
  }
  for (const model::Condition& each : status.conditions) {
    if (each.type == "Ready") return each.status == model::ConditionStatus::kTrue ? "Current" : "InProgress";
  }
  return "Current";
}

struct Fixture {
  model::Job bert = job("ml/bert").role("worker", 1, gpus(8));
  model::Pod member = pod("").memberOf(bert, "worker", 0).on("n1").phase(model::PodPhase::kRunning);

  Fixture() { bert.generation = 1; }

  // Deriving the status again must not change it: it costs no write.
  std::string after(const StatusUpdate& update, const model::GangRecord& record = {},
                    const std::vector<Member>& members = {}) {
    bert.status = deriveStatus(bert, record, members, update, at(1'000));
    CHECK(deriveStatus(bert, record, members, update, at(2'000)).conditions == bert.status.conditions);
    return kstatusOf(bert.generation, bert.status);
  }
  std::string afterRunning() {
    model::Job placed = job("ml/bert").role("worker", 1, gpus(8)).placed("n1", "worker", "0");
    return after({.where = "node n1"}, placed.status.gang,
                 {{"worker", 0, model::NodeName("n1"), &member, 1, false}});
  }
  static StatusUpdate waits(model::PendingReason reason, bool admitted) {
    return {.pending = model::Pending{.reason = reason, .message = "why"}, .admitted = admitted};
  }
};

std::string kstatusOf(const SnapshotBuilder& builder, const model::Queue& queue) {
  CycleInput in;
  in.snapshot = builder.build();
  in.term = 4;
  const Plan plan = cycle(in);
  const auto update =
      std::find_if(plan.queues.begin(), plan.queues.end(),
                   [&](const QueueStatusUpdate& each) { return each.queue->name == queue.name; });
  return update == plan.queues.end() ? "no news" : kstatusOf(queue.generation, update->status);
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a pending job is in progress and one that runs or has ended well is current") {
  CHECK(after(waits(model::PendingReason::kWaitingForCapacity, true)) == "InProgress");
  CHECK(after(waits(model::PendingReason::kQueueNotFound, false)) == "InProgress");
  CHECK(afterRunning() == "Current");
  CHECK(after({.verdict = {Outcome::kSucceeded, "AllSucceeded", "all members have ended well"}}) ==
        "Current");
}

TEST_CASE_METHOD(Fixture, "a job that failed or that only its author can repair has failed") {
  CHECK(after(waits(model::PendingReason::kInvalidSpec, false)) == "Failed");
  // The spec was corrected.
  CHECK(after(waits(model::PendingReason::kWaitingForCapacity, true)) == "InProgress");
  CHECK(after(waits(model::PendingReason::kInvalidTemplate, false)) == "Failed");
  CHECK(afterRunning() == "Current");
  CHECK(after({.verdict = {Outcome::kFailed, "Failed", "it failed"}}) == "Failed");
  CHECK(after({}) == "Failed");
}

TEST_CASE_METHOD(Fixture, "a job that is not admitted has failed only if its spec is invalid") {
  for (const model::PendingReasonTraits& each : model::kPendingReasons) {
    if (each.kind == model::ReasonKind::kAdmitted) continue;
    CAPTURE(each.name);
    const std::string_view expected = each.kind == model::ReasonKind::kInvalid ? "Failed" : "InProgress";
    CHECK(after(waits(each.reason, false)) == expected);
  }
}

TEST_CASE_METHOD(Fixture, "a suspended job is current") {
  StatusUpdate update;
  update.suspended = true;
  CHECK(after(update) == "Current");
  CHECK(bert.condition(model::conditions::kReady)->reason == "Suspended");
}

TEST_CASE_METHOD(Fixture, "an edit is in progress until it was seen") {
  CHECK(afterRunning() == "Current");
  ++bert.generation;
  CHECK(kstatusOf(bert.generation, bert.status) == "InProgress");
}

TEST_CASE("a queue that jobs can use is current and another one has failed until it is repaired") {
  model::Queue queue;
  queue.name = model::QueueName("vision");
  queue.generation = 1;
  CHECK(kstatusOf(cluster().now(1'000).add(queue), queue) == "Current");
  queue.parent = model::QueueName("nowhere");
  CHECK(kstatusOf(cluster().now(1'000).add(queue), queue) == "Failed");
  queue.status.conditions = {{"Ready", model::ConditionStatus::kFalse, "ParentNotFound", "", at(10), 1},
                             {"Stalled", model::ConditionStatus::kTrue, "ParentNotFound", "", at(10), 1}};
  queue.parent = {};
  CHECK(kstatusOf(cluster().now(1'000).add(queue), queue) == "Current");
}
