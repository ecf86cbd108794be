#include "cli/job_text.h"

#include <catch2/catch.hpp>

#include "cli/progress_text.h"
#include "support/builders.h"

namespace {

using namespace trainyard;
using namespace trainyard::test;

cli::Nodes racks() {
  return cli::Nodes({std::make_shared<const model::Node>(node("n1").zone("z").block("b1").rack("r1")),
                     std::make_shared<const model::Node>(node("n2").zone("z").block("b1").rack("r1"))});
}

model::Condition condition(std::string_view type, bool value, std::string_view reason,
                           std::string_view message) {
  return {std::string(type),
          value ? model::ConditionStatus::kTrue : model::ConditionStatus::kFalse,
          std::string(reason),
          std::string(message),
          at(0),
          1};
}

TEST_CASE("a pending job is explained by the operator's message with numbers and the blocking jobs") {
  model::Job bert = job("ml/bert").role("worker", 4, gpus(8));
  bert.status.conditions = {condition("Admitted", true, "Valid", "")};
  bert.status.pending =
      model::Pending{.reason = model::PendingReason::kWaitingForTopology,
                     .message = "needs 4 nodes with 8 nvidia.com/gpu in one rack; best rack z/b1/r1 has 3",
                     .since = at(0),
                     .shortfall = model::Shortfall{.resource = "nvidia.com/gpu",
                                                   .needed = 32,
                                                   .available = 24,
                                                   .neededNodes = 4,
                                                   .availableNodes = 3,
                                                   .level = "rack",
                                                   .domain = "z/b1/r1"},
                     .blockedBy = {{key("vision/gpt"), 1, 8}}};
  CHECK(cli::explainJob(bert, {}, at(720)) ==
        "ml/bert waits: WaitingForTopology, for 12m.\n"
        "  needs 4 nodes with 8 nvidia.com/gpu in one rack; best rack z/b1/r1 has 3\n"
        "  Short of: 32 nvidia.com/gpu needed, 24 nvidia.com/gpu usable; 3 of 4 nodes are usable, in rack "
        "z/b1/r1.\n"
        "  Blocked by: vision/gpt (1 node, 8 GPUs).\n"
        "  Its start is unknown: a job ahead of it has no estimate (spec.estimate), and no similar job has "
        "run.\n");

  bert.status.gang.backoff = model::Backoff{at(750), 2, {model::NodeName("n7")}, "deadline passed"};
  const std::string text = cli::explainJob(bert, {}, at(720));
  CHECK(text.find("  Aborted 2 attempts in a row; the last reason: deadline passed.\n") != std::string::npos);
  CHECK(text.find(", without n7.\n") != std::string::npos);
}

TEST_CASE("a placed job is explained by its nodes and racks") {
  model::Job bert =
      job("ml/bert").role("worker", 4, gpus(4)).placed("n2", "worker", "2-3").placed("n1", "worker", "0-1");
  bert.status.ready = "4/4";
  CHECK(cli::explainJob(bert, racks(), at(0)) ==
        "ml/bert is placed: 2 nodes in rack z/b1/r1; 4/4 ready.\n"
        "  NODE   RACK      MEMBERS\n"
        "  n1     z/b1/r1   worker 0-1\n"
        "  n2     z/b1/r1   worker 2-3\n");
  // Without permission to read nodes, only the racks are missing.
  CHECK(cli::explainJob(bert, {}, at(0)).find("  n1     ?      worker 0-1\n") != std::string::npos);
  CHECK(cli::nodesOf(bert) == std::vector{model::NodeName("n1"), model::NodeName("n2")});
}

TEST_CASE("the location of a job is shown by the policy's levels or by the operator's message") {
  model::Job bert =
      job("ml/bert").role("worker", 2, gpus(4)).placed("n1", "worker", "0").placed("n2", "worker", "1");
  bert.status.ready = "2/2";
  const auto labelled = [](const char* name) {
    return std::make_shared<const model::Node>(
        node(name).rack("wrong").label("net.example.com/leaf", "leaf2"));
  };
  cli::Where where(cli::Nodes({labelled("n1"), labelled("n2")}));
  where.topology = {{"leaf", "net.example.com/leaf"}, {"node", "kubernetes.io/hostname"}};
  CHECK(cli::explainJob(bert, where, at(0)) ==
        "ml/bert is placed: 2 nodes in leaf leaf2; 2/2 ready.\n"
        "  NODE   LEAF    MEMBERS\n"
        "  n1     leaf2   worker 0\n"
        "  n2     leaf2   worker 1\n");
  // Most users may not read the policy: the operator's message is shown all the same, without a guess.
  where.topology.reset();
  bert.status.conditions = {
      condition("Scheduled", true, "GangPlaced", "2 of 2 pods on 2 nodes in leaf leaf2")};
  CHECK(cli::explainJob(bert, where, at(0)) ==
        "ml/bert is placed: 2 nodes in leaf leaf2; 2/2 ready.\n"
        "  NODE   MEMBERS\n"
        "  n1     worker 0\n"
        "  n2     worker 1\n");
}

TEST_CASE("a pending job names the job that preempted it and reports an unknown start as unknown") {
  model::Job bert = job("ml/bert").role("worker", 1, gpus(8));
  bert.status.pending = model::Pending{.reason = model::PendingReason::kWaitingForCapacity,
                                       .message = "needs 1 node",
                                       .since = at(0),
                                       .blockedBy = {{key("ml/urgent"), 1, 8}}};
  bert.status.preemptions = {.count = 2, .last = at(0), .by = key("ml/urgent")};
  CHECK(cli::explainJob(bert, {}, at(60)) ==
        "ml/bert waits: WaitingForCapacity, for 60s.\n"
        "  needs 1 node\n"
        "  Blocked by: ml/urgent (1 node, 8 GPUs).\n"
        "  Its start is unknown: a job ahead of it has no estimate (spec.estimate), and no similar job has "
        "run.\n"
        "  Preempted by ml/urgent at 2024-10-04T00:00:00Z, 2 times in all.\n");
}

TEST_CASE("a job that is being placed or aborted is explained by its phase and deadline") {
  model::Job bert = job("ml/bert")
                        .role("worker", 1, gpus(4))
                        .proposes("n1", "worker", "0", model::ProposalPhase::kReserved);
  bert.status.gang.proposal->deadline = at(0);
  const std::string text = cli::explainJob(bert, racks(), at(0));
  CHECK(text.find("ml/bert is being placed: Reserved, 1 member on node n1, to be bound by ") == 0);

  bert.status.gang.proposal->phase = model::ProposalPhase::kAborting;
  bert.status.gang.proposal->abortReason = "node n1 is gone";
  CHECK(cli::explainJob(bert, racks(), at(0)) ==
        "ml/bert: an attempt is being aborted: node n1 is gone. Its nodes stay reserved until its pods are "
        "gone.\n");
}

TEST_CASE("a job that does not wait for capacity is explained by its condition") {
  model::Job bert = job("ml/bert").role("worker", 1, gpus(4)).created(0);
  CHECK(cli::explainJob(bert, {}, at(60)) ==
        "ml/bert has not been processed since it was created, 60s ago. Is trainyard-operator running?\n");
  bert.status.conditions = {
      condition("Admitted", false, "InvalidSpec", "spec.roles[worker].replicas: must be positive")};
  CHECK(cli::explainJob(bert, {}, at(60)) ==
        "ml/bert is not admitted: InvalidSpec.\n  spec.roles[worker].replicas: must be positive\n");
  bert.status.conditions = {condition("Failed", true, "MemberFailed", "worker 0 exited with code 3")};
  CHECK(cli::explainJob(bert, {}, at(60)) ==
        "ml/bert failed, 60s ago: MemberFailed.\n  worker 0 exited with code 3\n");
  bert.status.conditions = {condition("Succeeded", true, "AllSucceeded", "")};
  CHECK(cli::explainJob(bert, {}, at(60)) == "ml/bert succeeded, 60s ago: AllSucceeded.\n");
  bert.status.conditions.clear();
  bert.deleting = true;
  CHECK(cli::explainJob(bert, {}, at(60)) ==
        "ml/bert is being deleted; it is removed when its pods are gone.\n");
  bert.deleting = false;
  bert.spec.run.suspend = true;
  CHECK(cli::explainJob(bert, {}, at(60)) == "ml/bert is suspended: spec.run.suspend is true.\n");
}

TEST_CASE("the table shows why a job is pending and '-' for unknown values") {
  model::Job bert = job("ml/bert").role("worker", 1, gpus(4)).queue("vision").created(0);
  bert.status.phase = "Pending";
  bert.status.ready = "0/1";
  bert.status.gpus = 4;
  bert.status.pending =
      model::Pending{.reason = model::PendingReason::kWaitingForCapacity, .message = "", .since = at(0)};
  const model::Job fresh = job("ml/new").role("worker", 1, gpus(4)).created(50);
  CHECK(cli::jobsTable({bert, fresh}, false, at(60)) ==
        "NAME   PHASE     QUEUE     READY   GPUS   WHY                  AGE\n"
        "bert   Pending   vision    0/1     4      WaitingForCapacity   60s\n"
        "new    -         default   -       0      -                    10s\n");
  CHECK(cli::jobsTable({bert}, true, at(60)).find("NAMESPACE   NAME   PHASE") == 0);
}

TEST_CASE("details and JSON hold the whole status") {
  model::Job bert = job("ml/bert").role("worker", 2, gpus(4)).placed("n1", "worker", "0-1").created(0);
  bert.status.phase = "Running";
  bert.status.roles = {{.name = "worker", .desired = 2, .active = 2, .ready = 1}};
  bert.status.conditions = {condition("Scheduled", true, "Placed", "2 members are bound")};
  const std::string text = cli::jobDetails(bert, racks(), at(60));
  CHECK(text.find("Job:     ml/bert\nPhase:   Running\n") == 0);
  CHECK(text.find("  worker   2         2        1       0           0\n") != std::string::npos);
  CHECK(text.find("  Scheduled   True     60s     Placed   2 members are bound\n") != std::string::npos);
  const std::string json = cli::jobJson(bert, racks());
  CHECK(json.find(R"({"namespace":"ml","name":"bert",)") == 0);
  CHECK(json.find(R"("nodes":[{"name":"n1","members":"worker 0-1","domain":"z/b1/r1"}])") !=
        std::string::npos);
  CHECK(cli::jobsJson({bert}).find(R"({"items":[{"namespace":"ml")") == 0);
}

TEST_CASE("reported progress is shown in a few lines") {
  model::Job bert = job("ml/bert").role("worker", 2, gpus(4)).placed("n1", "worker", "0-1").created(0);
  CHECK(cli::progressText(bert, at(60)).empty());
  model::Progress& progress = bert.status.progress.emplace();
  progress.step = 250;
  progress.at = at(30);
  CHECK(cli::progressText(bert, at(60)) == "  Progress: step 250; reported 30s ago\n");
  progress.totalSteps = 1000;
  progress.milliSamplesPerSecond = 834'250;
  progress.remainingSeconds = 7'200;
  progress.lastCheckpoint = at(0);
  progress.slowestRank = 7;
  progress.slowdownPermille = 1'840;
  progress.metrics = {{"loss", "0.31"}};
  bert.status.resize.speeds = {{4, 834'000}, {2, 480'500}};
  CHECK(cli::progressText(bert, at(60)) ==
        "  Progress: step 250 of 1000 (25.0%), 834.2 samples/s, about 1h59m left; reported 30s ago\n"
        "  Last checkpoint: 60s ago\n"
        "  Straggler: rank 7, 1.84 times the median step\n"
        "  Samples/s by size: 480.5 with 2, 834.0 with 4\n"
        "  Figures: loss 0.31\n");
  CHECK(cli::jobDetails(bert, racks(), at(60)).find("  Progress: step 250 of 1000") != std::string::npos);
}

}  // namespace
