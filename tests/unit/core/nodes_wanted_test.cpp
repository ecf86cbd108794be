#include "core/autoscaling/nodes_wanted.h"

#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include "support/builders.h"

using namespace trainyard;
using namespace trainyard::test;
using namespace std::chrono_literals;
using core::NodesStep;
using model::PendingReason;

namespace {

constexpr std::int64_t kStart = 1'000;

model::Job waiting(PendingReason reason) {
  model::Job job = test::job("ml/bert").role("worker", 4, gpus(8));
  job.status.pending = model::Pending{reason, "needs 4 nodes"};
  job.status.pending->since = at(kStart);
  return job;
}

model::ProvisioningPolicy policy() {
  return {.by = model::ProvisioningBy::kProvisioningRequest,
          .after = 10s,
          .giveUpAfter = 15min,
          .retryAfter = 5min};
}

model::NodesRequest asked(int attempt = 1) {
  model::NodesRequest request;
  request.key = {"ml", "bert-nodes-1-uid"};
  request.attempt = attempt;
  request.created = at(kStart + 10);
  return request;
}

model::NodesRequest with(std::string type, model::ConditionStatus status = model::ConditionStatus::kTrue,
                         std::int64_t since = kStart + 20) {
  model::NodesRequest request = asked();
  request.conditions.push_back({std::move(type), status, "Said", "so it is", at(since)});
  return request;
}

core::NodesDecision decide(const model::Job& job, const model::NodesRequest* request, std::int64_t seconds,
                           const core::NodesHistory& memory = {}) {
  return core::decideNodes(job, core::wantsNodes(job, model::defaultTopologyLevels()), request, memory,
                           policy(), at(seconds));
}

void tell(model::Job& job, const core::NodesReport& report, std::int64_t seconds) {
  job.status.conditions = {{std::string(model::conditions::kNodesRequested),
                            report.asked ? model::ConditionStatus::kTrue : model::ConditionStatus::kFalse,
                            report.reason, report.message, at(seconds)}};
}

}  // namespace

TEST_CASE("jobs that lack capacity request nodes and jobs that wait for others do not") {
  const auto& levels = model::defaultTopologyLevels();
  const std::set<PendingReason> helped{PendingReason::kNoMatchingNodes, PendingReason::kTooLarge,
                                       PendingReason::kWaitingForCapacity};
  for (const model::PendingReasonTraits& each : model::kPendingReasons) {
    CAPTURE(each.name);
    CHECK(core::wantsNodes(waiting(each.reason), levels) == helped.contains(each.reason));
  }

  model::Job job = waiting(PendingReason::kTooLarge);
  SECTION("suspended") { job.spec.run.suspend = true; }
  SECTION("being deleted") { job.deleting = true; }
  SECTION("about to start") { job.status.gang.proposal.emplace(); }
  SECTION("placed") { job.status.gang.placed.emplace(); }
  SECTION("with a level that no node can have") { job.spec.locality.required = "galaxy"; }
  SECTION("without a pending reason") { job.status.pending.reset(); }
  CHECK_FALSE(core::wantsNodes(job, levels));
}

TEST_CASE("nodes are requested after a while") {
  const model::Job job = waiting(PendingReason::kTooLarge);
  const auto early = decide(job, nullptr, kStart + 9);
  CHECK(early.step == NodesStep::kNothing);
  CHECK(early.wakeAt == at(kStart + 10));
  const auto due = decide(job, nullptr, kStart + 10);
  CHECK(due.step == NodesStep::kRequest);
  CHECK(due.attempt == 1);
}

TEST_CASE("a job reports the state of its request") {
  const model::Job job = waiting(PendingReason::kWaitingForCapacity);
  const auto request = asked();
  const auto first = decide(job, &request, kStart + 11);
  REQUIRE(first.report);
  CHECK(first.report->asked);
  CHECK(first.report->reason == "Asked");
  CHECK(first.step == NodesStep::kNothing);
  CHECK(first.wakeAt == at(kStart + 10 + 900));

  const auto accepted = with("Accepted");
  CHECK(decide(job, &accepted, kStart + 30).report->reason == "Accepted");
  // Cluster Autoscaler's check-capacity reports this and retries.
  const auto notYet = with("Provisioned", model::ConditionStatus::kFalse);
  CHECK(decide(job, &notYet, kStart + 30).report->message.find("so it is") != std::string::npos);
  const auto there = with("Provisioned");
  CHECK(decide(job, &there, kStart + 30).report->reason == "Provisioned");
  CHECK(decide(job, &there, kStart + 30).wakeAt == at(kStart + 20 + 900));
}

TEST_CASE("a failed request is reported and withdrawn and repeated after a back-off that doubles") {
  model::Job job = waiting(PendingReason::kTooLarge);
  for (const char* type : {"Failed", "BookingExpired", "CapacityRevoked"}) {
    CAPTURE(type);
    auto request = with("Provisioned");
    request.conditions.push_back({type, model::ConditionStatus::kTrue, "Said", "no quota", at(kStart + 60)});
    const auto decision = decide(job, &request, kStart + 60);
    REQUIRE(decision.report);
    CHECK_FALSE(decision.report->asked);
    CHECK(decision.report->reason == type);
    CHECK(decision.report->isWarning);
    CHECK(decision.report->message ==
          "attempt 1 to get nodes failed: no quota; the next one starts after 5m");
    CHECK(decision.step == NodesStep::kWithdraw);
    CHECK(decision.failed);
  }
  CHECK(core::nodesBackoff(policy(), 1) == 5min);
  CHECK(core::nodesBackoff(policy(), 3) == 20min);
  CHECK(core::nodesBackoff(policy(), 1'000) == 24h);

  const core::NodesHistory memory{2, at(kStart + 500)};
  CHECK(decide(job, nullptr, kStart + 499, memory).step == NodesStep::kNothing);
  CHECK(decide(job, nullptr, kStart + 499, memory).wakeAt == at(kStart + 500));
  CHECK(decide(job, nullptr, kStart + 500, memory).step == NodesStep::kRequest);
  CHECK(decide(job, nullptr, kStart + 500, memory).attempt == 3);
}

TEST_CASE("nodes that do not arrive or do not help are given up") {
  const model::Job job = waiting(PendingReason::kTooLarge);
  const auto request = asked();
  CHECK(decide(job, &request, kStart + 909).step == NodesStep::kNothing);
  const auto late = decide(job, &request, kStart + 910);
  CHECK(late.report->reason == "TimedOut");
  CHECK(late.report->message.find("no nodes were added within 15m") != std::string::npos);
  CHECK(late.step == NodesStep::kWithdraw);
  const auto there = with("Provisioned");
  CHECK(decide(job, &there, kStart + 919).step == NodesStep::kNothing);
  CHECK(decide(job, &there, kStart + 920).report->message.find("is still not placed") != std::string::npos);
}

TEST_CASE("a new process counts the back-off from what its predecessor reported") {
  model::Job job = waiting(PendingReason::kTooLarge);
  tell(job, core::nodesRefused(policy(), 1, "no such API"), kStart + 100);
  CHECK(job.status.conditions[0].message ==
        "attempt 1 to get nodes failed: no such API; the next one starts after 5m");
  CHECK(decide(job, nullptr, kStart + 399).wakeAt == at(kStart + 400));
  CHECK(decide(job, nullptr, kStart + 400).attempt == 2);
}

TEST_CASE("the next requester is of the namespace with the fewest requests and then the oldest") {
  const model::Job first = job("many/1").created(1);
  const model::Job second = job("many/2").created(2);
  const model::Job later = job("few/later").created(3);
  const model::Job latest = job("few/latest").created(4);
  const std::vector<const model::Job*> wanting{&first, &second, &latest, &later};
  using Chosen = std::vector<std::size_t>;
  CHECK(core::selectRequesters(wanting, {}, 3) == Chosen{0, 3, 1});
  CHECK(core::selectRequesters(wanting, {{"many", 15}}, 1) == Chosen{3});
  CHECK(core::selectRequesters(wanting, {{"many", 2}, {"few", 1}}, 9) == Chosen{3, 0, 2, 1});
  CHECK(core::selectRequesters(wanting, {}, 0).empty());
  CHECK(core::selectRequesters(wanting, {}, -1).empty());
}

TEST_CASE("a request ends when the job no longer needs nodes") {
  model::Job job = waiting(PendingReason::kTooLarge);
  const auto request = asked();
  tell(job, {true, "Accepted", "an autoscaler is adding nodes"}, kStart + 20);
  SECTION("placed") {
    job.status.pending.reset();
    job.status.gang.proposal.emplace();
    const auto decision = decide(job, &request, kStart + 50);
    CHECK(decision.report->reason == "Placed");
    CHECK_FALSE(decision.report->asked);
    CHECK(decision.step == NodesStep::kWithdraw);
    CHECK_FALSE(decision.failed);
    tell(job, *decision.report, kStart + 50);
    CHECK_FALSE(decide(job, nullptr, kStart + 51).report);
  }
  SECTION("suspended") {
    job.spec.run.suspend = true;
    CHECK(decide(job, &request, kStart + 50).report->reason == "Suspended");
  }
  SECTION("waiting for something else") {
    job.status.pending->reason = PendingReason::kWaitingForQuota;
    CHECK(decide(job, &request, kStart + 50).report->reason == "NotWanted");
  }
  SECTION("deleted") {
    job.deleting = true;
    CHECK_FALSE(decide(job, &request, kStart + 50).report);
    CHECK(decide(job, &request, kStart + 50).step == NodesStep::kWithdraw);
  }
}
