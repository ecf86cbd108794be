#include <algorithm>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "core/cycle/cycle.h"
#include "core/gang/gang_proposals.h"
#include "core/gang/gang_removal.h"
#include "core/queues/eligibility.h"
#include "core/queues/priority.h"
#include "core/queues/queue_tree.h"
#include "model/charge.h"
#include "model/conditions.h"
#include "support/builders.h"

// A gang is charged for its placement, as what it was when it was placed, until its last pod is gone.

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

model::Queue queue(std::string_view name, std::int64_t limit = 0) {
  model::Queue made;
  made.name = model::QueueName(name);
  if (limit > 0) made.limit.set("nvidia.com/gpu", limit);
  return made;
}

CycleInput input(const SnapshotBuilder& builder) {
  CycleInput in;
  in.snapshot = builder.build();
  in.term = 4;
  for (const auto& job : in.snapshot.jobs) in.feedback[job->key] = {.templateError = ""};
  return in;
}

const JobDecision* decisionFor(const Plan& plan, std::string_view name) {
  const auto at = std::find_if(plan.decisions.begin(), plan.decisions.end(),
                               [&](const JobDecision& d) { return d.job->key == key(name); });
  return at == plan.decisions.end() ? nullptr : &*at;
}

const model::JobStatus* statusFor(const Plan& plan, std::string_view name) {
  const JobDecision* decision = decisionFor(plan, name);
  return decision == nullptr || !decision->status ? nullptr : &*decision->status;
}

std::string waitsFor(const Plan& plan, std::string_view name) {
  const model::JobStatus* status = statusFor(plan, name);
  return status == nullptr || !status->pending ? "" : std::string(model::toString(status->pending->reason));
}

bool starts(const Plan& plan, std::string_view name) {
  const model::JobStatus* status = statusFor(plan, name);
  return status != nullptr && status->gang.proposal.has_value();
}

SnapshotBuilder twoNodes() { return cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).now(1'000); }

// Runs on n1 with 8 GPUs, charged to queue `charged`.
model::Job running(std::string_view charged, bool preemptible = true, int priority = 0) {
  model::Job bert = job("ml/bert").role("worker", 1, gpus(8)).queue(charged).placed("n1", "worker", "0");
  bert.spec.preemptible = preemptible;
  bert.status.gang.lastEpoch = 1;
  bert.status.gang.charge = model::makeCharge(bert.spec, model::QueueName(charged), priority);
  bert.status.gpus = 8;
  bert.hasReleaseFinalizer = true;
  bert.status.conditions.push_back({"Scheduled", model::ConditionStatus::kTrue, "GangPlaced", {}, at(0), 1});
  return bert;
}

model::Pod podOf(const model::Job& job, std::string_view nodeName) {
  return pod("x").memberOf(job, "worker", 0).gpus(8).on(nodeName).phase(model::PodPhase::kRunning);
}

model::Pod ending(model::Pod pod) {
  pod.terminating = true;
  pod.deletionTime = at(1'030);
  return pod;
}

std::int64_t usageOf(const model::Snapshot& snapshot, std::string_view name) {
  const QueueTree tree(snapshot);
  return tree.node(tree.find(model::QueueName(name)).value()).usage[0];
}

}  // namespace

TEST_CASE("a gang stays charged for the type of GPU that its nodes had at its start") {
  model::Queue limited = queue("research");
  limited.limit.set(std::string(model::kGpuTypePrefix) + "H100", 8);
  model::Job first = job("ml/first").role("worker", 1, gpus(8)).queue("research").placed("n1", "worker", "0");
  const model::Job second = job("ml/second").role("worker", 1, gpus(8)).queue("research");
  const auto plan = [&](bool labelled) {
    SnapshotBuilder builder = cluster().now(1'000).add(limited).add(first).add(second);
    builder.add(pod("x").memberOf(first, "worker", 0).gpus(8).on("n1").phase(model::PodPhase::kRunning));
    NodeBuilder n1 = node("n1").gpus(8);
    if (labelled) n1.label("nvidia.com/gpu.product", "H100");
    builder.add(n1).add(node("n2").gpus(8).label("nvidia.com/gpu.product", "H100"));
    CycleInput in = input(builder);
    in.snapshot.policy.gpuTypeLabel = "nvidia.com/gpu.product";
    return cycle(in);
  };
  const Plan labelled = plan(true);
  CHECK_FALSE(starts(labelled, "ml/second"));
  const model::JobStatus* recorded = statusFor(labelled, "ml/first");
  REQUIRE(recorded != nullptr);
  CHECK(recorded->gang.placed->assignments.front().gpuType == "H100");
  CHECK(starts(plan(false), "ml/second"));
  first.status = *recorded;
  CHECK_FALSE(starts(plan(false), "ml/second"));
}

TEST_CASE("a start records its charge") {
  const Plan plan =
      cycle(input(twoNodes()
                      .priorityClass("high", 100)
                      .add(queue("a"))
                      .add(job("ml/bert").role("worker", 2, gpus(4)).queue("a").priority("high"))));
  REQUIRE(starts(plan, "ml/bert"));
  const auto& charge = statusFor(plan, "ml/bert")->gang.charge;
  REQUIRE(charge);
  CHECK(charge->queue.str() == "a");
  CHECK(charge->priority == 100);
  REQUIRE(charge->members.size() == 1);
  CHECK(charge->members[0].requests.gpus() == 4);
}

TEST_CASE("a placed gang stays charged as at its start when its spec changes") {
  model::Job bert = running("a");
  bert.spec.run.suspend = true;
  bert.spec.queue = model::QueueName("b");
  bert.spec.roles[0].shape.requests = gpus(1);
  const auto scene = [&](const model::Job& each) {
    return twoNodes().add(queue("a")).add(queue("b")).add(each).add(ending(podOf(each, "n1"))).build();
  };
  CHECK(usageOf(scene(bert), "a") == 8);
  CHECK(usageOf(scene(bert), "b") == 0);
  // A record of an older version has no charge, so the spec counts.
  bert.status.gang.charge.reset();
  CHECK(usageOf(scene(bert), "a") == 0);
  CHECK(usageOf(scene(bert), "b") == 1);
}

TEST_CASE("a job that becomes non-preemptible or gets a higher priority keeps its charge") {
  model::Job bert = running("a", true, 5);
  bert.spec.preemptible = false;
  bert.spec.priorityClassName = "high";
  const model::Snapshot snapshot =
      twoNodes().priorityClass("high", 1'000).add(queue("a")).add(bert).add(podOf(bert, "n1"));
  CHECK(preemptibleNow(bert));
  CHECK(Priorities(snapshot).of(bert) == 5);
  const QueueTree tree(snapshot);
  CHECK(tree.node(tree.queueOf(bert)).nonPreemptible[0] == 0);
}

TEST_CASE("a queue reclaims its guarantee from a job that patched itself non-preemptible") {
  model::Queue owner = queue("owner");
  owner.guaranteed.set("nvidia.com/gpu", 16);
  model::Job bert = running("borrower");
  bert.spec.preemptible = false;
  const Plan plan = cycle(input(twoNodes()
                                    .add(owner)
                                    .add(queue("borrower"))
                                    .add(bert)
                                    .add(podOf(bert, "n1"))
                                    .add(job("ml/mine").role("worker", 2, gpus(8)).queue("owner"))));
  REQUIRE(starts(plan, "ml/mine"));
  CHECK(statusFor(plan, "ml/mine")->gang.proposal->victims.size() == 1);
}

TEST_CASE("a gang that restarts is no victim while it has no pods by which to name it") {
  const auto restarting = [](bool hasPod) {
    const Settings settings;
    model::Job bert = running("a");
    bert.status.gang = propose(bert, model::ProposalKind::kRestart,
                               {{model::NodeName("n2"), "worker", model::IndexSet({0})}},
                               bert.status.gang.placed->assignments, {}, {1, at(0), &settings});
    SnapshotBuilder builder = twoNodes();
    builder.priorityClass("high", 1'000).add(queue("a")).add(bert);
    if (hasPod) builder.add(podOf(bert, "n1"));
    builder.add(job("ml/mine").role("worker", 2, gpus(8)).queue("a").priority("high"));
    return starts(cycle(input(builder)), "ml/mine");
  };
  CHECK(restarting(true));
  CHECK_FALSE(restarting(false));
}

TEST_CASE("a gang that is changed while its pods end is pending again after them") {
  model::Job bert = running("a");
  SECTION("in a queue that its namespace may not use") { bert.spec.queue = model::QueueName("b"); }
  SECTION("with larger members") { bert.spec.roles[0].shape.requests = requests(8, 64); }
  SECTION("with more members") { bert.spec.roles[0].replicas = 2; }
  model::Queue closed = queue("b");
  closed.namespaceSelector.requirements = {{"team", model::SelectorOperator::kIn, {"others"}}};
  const Plan plan =
      cycle(input(twoNodes().add(queue("a")).add(closed).add(bert).add(ending(podOf(bert, "n1")))));
  REQUIRE(starts(plan, "ml/bert"));
  const model::GangRecord& gang = statusFor(plan, "ml/bert")->gang;
  CHECK(gang.proposal->kind == model::ProposalKind::kRestart);
  CHECK(gang.proposal->add.empty());
  CHECK(gang.charge == bert.status.gang.charge);
}

TEST_CASE("terminating pods of a preempted or ended job count against the limit of its queue") {
  model::Job bert = running("a");
  SECTION("preempted") {
    bert.status.gang.proposal.emplace();
    bert.status.gang.proposal->kind = model::ProposalKind::kRestart;
    bert.status.gang.proposal->phase = model::ProposalPhase::kClaiming;
    bert.status.gang.proposal->epoch = 2;
    bert.status.gang.proposal->generation = bert.generation;
    bert.status.gang.proposal->templateHash = bert.spec.templateHash;
    bert.status.gang.proposal->remove = bert.status.gang.placed->assignments;
  }
  SECTION("ended") {
    bert.status.conditions.push_back({"Succeeded", model::ConditionStatus::kTrue, "", "", at(0), 1});
  }
  const auto planWith = [&](const model::Pod& pod) {
    return cycle(input(twoNodes()
                           .add(queue("a", 8))
                           .add(bert)
                           .add(pod)
                           .add(job("ml/next").role("worker", 1, gpus(8)).queue("a"))));
  };
  const Plan plan = planWith(ending(podOf(bert, "n1")));
  CHECK(waitsFor(plan, "ml/next") == "WaitingForQuota");
  CHECK(statusFor(plan, "ml/next")->pending->message ==
        "queue a would exceed its limit: 8 + 8 > 8 nvidia.com/gpu, where 8 of the 8 are held by pods that "
        "are still terminating");
  REQUIRE(plan.queues.size() == 1);
  CHECK(plan.queues[0].status.usage.amount("nvidia.com/gpu") == 8);
  model::Pod over = podOf(bert, "n1");
  over.phase = model::PodPhase::kSucceeded;
  CHECK(starts(planWith(over), "ml/next"));
}

TEST_CASE("running pods of an ended job are deleted from GPU nodes under any clean-up policy") {
  model::Job bert = running("a");
  bert.spec.run.cleanPodPolicy = model::CleanPodPolicy::kNone;
  bert.status.conditions.push_back({"Succeeded", model::ConditionStatus::kTrue, "", "", at(0), 1});
  model::Pod pod = podOf(bert, "n1");
  const auto deletes = [&] {
    const Plan plan = cycle(input(twoNodes().add(node("cpus")).add(queue("a")).add(bert).add(pod)));
    const JobDecision* decision = decisionFor(plan, "ml/bert");
    return decision != nullptr && !decision->actions.empty() &&
           std::holds_alternative<DeletePod>(decision->actions.front());
  };
  CHECK(deletes());
  pod.shape.requests = cpus(4);
  CHECK(deletes());
  pod.node = model::NodeName("cpus");
  CHECK_FALSE(deletes());
  pod.node = model::NodeName("n1");
  pod.shape.requests = gpus(8);
  pod.phase = model::PodPhase::kSucceeded;
  CHECK_FALSE(deletes());
}

TEST_CASE("a pod's grace is at most that of the policy") {
  const Settings settings{.maxGrace = std::chrono::seconds(600)};
  const Ledger ledger(twoNodes().build());
  const auto removed = [&](const model::Pod& pod) {
    Removal removal(ledger, settings, at(1'000));
    removal.remove(pod);
    return removal.takeActions();
  };
  model::Pod slow = pod("ml/slow").on("n1").gpus(8);
  slow.grace = std::chrono::seconds(31'536'000);
  REQUIRE(removed(slow).size() == 1);
  CHECK(std::get<DeletePod>(removed(slow)[0]).grace == std::chrono::seconds(600));
  slow.grace = std::chrono::seconds(600);
  CHECK_FALSE(std::get<DeletePod>(removed(slow)[0]).grace);
  // Deleted by its owner with a grace period of a year.
  slow.terminating = true;
  slow.deletionTime = at(31'536'000);
  REQUIRE(removed(slow).size() == 1);
  CHECK(std::get<DeletePod>(removed(slow)[0]).grace == std::chrono::seconds(600));
  slow.deletionTime = at(1'600);
  CHECK(removed(slow).empty());
}

TEST_CASE("the grace of a deleted job's pod is at most that of the policy") {
  const model::Job gone = job("ml/gone").role("worker", 1, gpus(8));
  model::Pod pod = podOf(gone, "n1");
  pod.terminating = true;
  pod.deletionTime = at(31'536'000);
  CHECK(cycle(input(twoNodes().add(gone).add(pod))).orphans.empty());
  const Plan plan = cycle(input(twoNodes().add(pod)));
  REQUIRE(plan.orphans.size() == 1);
  CHECK(plan.orphans[0].grace == std::chrono::seconds(600));
  pod.deletionTime = at(1'030);
  CHECK(cycle(input(twoNodes().add(pod))).orphans.empty());
}

TEST_CASE("with chargeOtherPods the pods of a deleted job are charged") {
  const model::Job gone = job("ml/gone").role("worker", 1, gpus(8));
  model::Queue team = queue("team");
  team.namespaceSelector.requirements = {{"team", model::SelectorOperator::kExists, {}}};
  model::Namespace space;
  space.name = "ml";
  space.labels = model::Labels(std::vector<std::pair<std::string, std::string>>{{"team", "a"}});
  model::Snapshot snapshot = twoNodes().add(team).add(ending(podOf(gone, "n1")));
  snapshot.namespaces.edit().push_back(std::make_shared<const model::Namespace>(space));
  snapshot.policy.chargeOtherPods = true;
  CHECK(usageOf(snapshot, "team") == 8);
}

TEST_CASE("a pod that only names a job as its owner is charged to no queue") {
  model::Job bait = job("evil/bait").role("worker", 1, cpus(1)).queue("b");
  std::string_view name = "evil/own";
  SECTION("of a job that another controller manages") {
    bait.spec.managedBy = "x.y/z";
    SECTION("under its own name") {}
    SECTION("under a member's name") { name = ""; }
  }
  SECTION("of a queue that its namespace may not use") {
    SECTION("under its own name") {}
    SECTION("under a member's name") { name = ""; }
    SECTION("under its own name for a job that ran elsewhere before") { bait.status.gang.lastEpoch = 3; }
    SECTION("under a member's name for a job that ran elsewhere before") {
      bait.status.gang.lastEpoch = 3;
      name = "";
    }
  }
  SECTION("of a queue that it may use for a job without any placement before") {
    bait.spec.queue = model::QueueName("open");
    SECTION("under its own name") {}
    SECTION("under a member's name") { name = ""; }
  }
  model::Queue closed = queue("b", 8);
  if (bait.spec.queue == closed.name)
    closed.namespaceSelector.requirements = {{"team", model::SelectorOperator::kIn, {"b"}}};
  else
    closed.name = model::QueueName("open");
  model::Pod own =
      pod("evil/x").memberOf(bait, "worker", 0).gpus(8).on("n1").phase(model::PodPhase::kRunning);
  if (!name.empty()) {
    own.key = key(name);
    own.member.reset();
  }
  CycleInput in = input(twoNodes().add(closed).add(bait).add(own).add(
      job("ml/next").role("worker", 1, gpus(8)).queue(closed.name.str())));
  model::Namespace space;
  space.name = "ml";
  space.labels = model::Labels(std::vector<std::pair<std::string, std::string>>{{"team", "b"}});
  in.snapshot.namespaces.edit().push_back(std::make_shared<const model::Namespace>(space));
  CHECK(starts(cycle(in), "ml/next"));
}

TEST_CASE("with chargeOtherPods a pod that only names a job as its owner is charged") {
  model::Job bait = job("ml/bait").role("worker", 1, gpus(8)).queue("elsewhere");
  model::Queue team = queue("team");
  team.namespaceSelector.requirements = {{"team", model::SelectorOperator::kExists, {}}};
  model::Namespace space;
  space.name = "ml";
  space.labels = model::Labels(std::vector<std::pair<std::string, std::string>>{{"team", "a"}});
  const auto charged = [&](const model::Pod& own) {
    model::Snapshot snapshot = twoNodes().add(team).add(queue("elsewhere")).add(bait).add(own);
    snapshot.namespaces.edit().push_back(std::make_shared<const model::Namespace>(space));
    snapshot.policy.chargeOtherPods = true;
    return usageOf(snapshot, "team");
  };
  model::Pod own = podOf(bait, "n1");
  CHECK(charged(own) == 8);
  bait.status.gang.lastEpoch = 1;
  CHECK(charged(own) == 0);
  bait.spec.managedBy = "x.y/z";
  CHECK(charged(own) == 8);
  bait.spec.managedBy.clear();
  own.member.reset();
  CHECK(charged(own) == 8);
}

TEST_CASE("a claim waits for the grace of its victims and a longer request is reported") {
  model::Job bert = running("a");
  model::Pod pod = podOf(bert, "n1");
  pod.grace = std::chrono::hours(10);
  model::Job urgent = job("ml/urgent").role("worker", 2, gpus(8)).queue("a").priority("high");
  urgent.spec.roles[0].grace = std::chrono::hours(10);
  CycleInput in = input(twoNodes().priorityClass("high", 100).add(queue("a")).add(bert).add(pod).add(urgent));
  in.snapshot.policy.preemption.maxGrace = std::chrono::hours(1);
  const Plan plan = cycle(in);
  REQUIRE(starts(plan, "ml/urgent"));
  const model::Proposal& claim = *statusFor(plan, "ml/urgent")->gang.proposal;
  REQUIRE(claim.victims.size() == 1);
  CHECK(claim.deadline == at(1'000) + in.settings.claimDeadline + std::chrono::hours(1));
  const auto& events = decisionFor(plan, "ml/urgent")->events;
  const auto capped = std::find_if(events.begin(), events.end(),
                                   [](const auto& each) { return each.reason == "GraceCapped"; });
  REQUIRE(capped != events.end());
  CHECK(capped->note.find("get 3600 s") != std::string::npos);
}

TEST_CASE("a priority class that never preempts preempts no gang") {
  model::Job bert = running("a");
  CycleInput in = input(twoNodes()
                            .priorityClass("patient", 100)
                            .add(queue("a"))
                            .add(bert)
                            .add(podOf(bert, "n1"))
                            .add(job("ml/urgent").role("worker", 2, gpus(8)).queue("a").priority("patient")));
  CHECK(starts(cycle(in), "ml/urgent"));
  auto never = *in.snapshot.priorityClasses[0];
  never.preempts = false;
  in.snapshot.priorityClasses.edit()[0] = std::make_shared<const model::PriorityClass>(never);
  CHECK(waitsFor(cycle(in), "ml/urgent") == "WaitingForCapacity");
}

TEST_CASE("a queue restricts its jobs' priority classes and must allow those of the system by name") {
  model::Queue open = queue("open");
  model::Queue strict = queue("strict");
  strict.allowedPriorityClasses = {"low"};
  model::Queue critical = queue("critical");
  critical.allowedPriorityClasses = {"system-node-critical"};
  model::Queue below = queue("below");
  below.parent = model::QueueName("strict");
  const auto outcome = [&](std::string_view queueName, std::string_view className,
                           bool defaultClass = false) {
    const Plan plan = cycle(
        input(twoNodes()
                  .priorityClass("system-node-critical", 2'000'001'000)
                  .priorityClass("high", 1'000, defaultClass)
                  .priorityClass("low", 1)
                  .add(open)
                  .add(strict)
                  .add(critical)
                  .add(below)
                  .add(job("ml/bert").role("worker", 1, gpus(1)).queue(queueName).priority(className))));
    return starts(plan, "ml/bert") ? "starts" : waitsFor(plan, "ml/bert");
  };
  CHECK(outcome("open", "high") == "starts");
  CHECK(outcome("open", "system-node-critical") == "PriorityClassNotAllowed");
  CHECK(outcome("critical", "system-node-critical") == "starts");
  CHECK(outcome("strict", "low") == "starts");
  CHECK(outcome("strict", "high") == "PriorityClassNotAllowed");
  CHECK(outcome("strict", "") == "starts");
  CHECK(outcome("strict", "", true) == "PriorityClassNotAllowed");
  CHECK(outcome("below", "high") == "PriorityClassNotAllowed");
}

TEST_CASE("a job without a queue is charged to its namespace's queue or reports NoQueue") {
  CycleInput in = input(twoNodes().add(queue("vision")).add(job("ml/bert").role("worker", 1, gpus(8))));
  const auto charged = [](const Plan& plan) {
    const model::JobStatus* status = statusFor(plan, "ml/bert");
    REQUIRE(status != nullptr);
    const auto at = std::find_if(status->conditions.begin(), status->conditions.end(),
                                 [](const auto& each) { return each.type == model::conditions::kCharged; });
    return at == status->conditions.end() ? "" : at->reason;
  };
  SECTION("no queue") {
    const Plan plan = cycle(in);
    CHECK(starts(plan, "ml/bert"));
    CHECK(charged(plan) == "NoQueue");
  }
  SECTION("a placed job reports it too and also after its Queue is deleted") {
    model::Job placed = running("default");
    in.snapshot = twoNodes().add(queue("vision")).add(placed).add(podOf(placed, "n1")).build();
    CHECK(charged(cycle(in)) == "NoQueue");
    placed = running("vision");
    in.snapshot = twoNodes().add(queue("vision")).add(placed).add(podOf(placed, "n1")).build();
    CycleCache cache;
    Plan plan = cycle(in, cache);
    for (const auto& each : statusFor(plan, "ml/bert")->conditions)
      CHECK(each.type != model::conditions::kCharged);
    model::Job recorded = placed;
    recorded.status = *statusFor(plan, "ml/bert");
    in.snapshot.jobs.edit()[0] = std::make_shared<const model::Job>(recorded);
    plan = cycle(in, cache);
    CHECK(statusFor(plan, "ml/bert") == nullptr);
    in.snapshot.queues = {};
    in.snapshot.queues.push_back(std::make_shared<const model::Queue>(queue("other")));
    plan = cycle(in, cache);
    CHECK(charged(plan) == "NoQueue");
    for (const auto& each : statusFor(plan, "ml/bert")->conditions) {
      if (each.type == model::conditions::kCharged) CHECK_THAT(each.message, Catch::Contains("vision"));
    }
  }
  SECTION("the policy requires one") {
    in.snapshot.policy.requireQueue = true;
    CHECK(waitsFor(cycle(in), "ml/bert") == "NoQueue");
  }
  SECTION("its namespace names one") {
    in.snapshot.policy.requireQueue = true;
    model::Namespace space;
    space.name = "ml";
    space.labels = model::Labels(
        std::vector<std::pair<std::string, std::string>>{{"trainyard.dev/default-queue", "vision"}});
    in.snapshot.namespaces.edit().push_back(std::make_shared<const model::Namespace>(space));
    const Plan plan = cycle(in);
    REQUIRE(starts(plan, "ml/bert"));
    CHECK(statusFor(plan, "ml/bert")->gang.charge->queue.str() == "vision");
    CHECK(charged(plan).empty());
  }
  SECTION("there are no Queues") {
    in.snapshot.queues = {};
    in.snapshot.policy.requireQueue = true;
    const Plan plan = cycle(in);
    CHECK(starts(plan, "ml/bert"));
    CHECK(charged(plan).empty());
  }
}

TEST_CASE("a queue whose limit was lowered below what it holds reports that") {
  model::Queue lowered = queue("a", 4);
  lowered.status.usage.set("nvidia.com/gpu", 8);
  const auto readyOf = [](const Plan& plan) {
    REQUIRE(plan.queues.size() == 1);
    const auto& conditions = plan.queues[0].status.conditions;
    return *std::find_if(conditions.begin(), conditions.end(),
                         [](const auto& each) { return each.type == "Ready"; });
  };
  const model::Condition ready =
      readyOf(cycle(input(twoNodes().add(lowered).add(running("a")).add(podOf(running("a"), "n1")))));
  CHECK(ready.status == model::ConditionStatus::kTrue);
  CHECK(ready.reason == "OverLimit");
  CHECK(ready.message ==
        "the queue holds 8 of at most 4 nvidia.com/gpu: its jobs keep running, and none starts until enough "
        "have ended");
  // Not while one job ends and another one takes its nodes.
  CHECK(readyOf(cycle(input(twoNodes().add(queue("a", 4)).add(running("a")).add(podOf(running("a"), "n1")))))
            .reason == "Usable");
}

TEST_CASE("a queue's counts of placed and pending jobs include the queues below it") {
  model::Queue org;
  org.name = model::QueueName("org");
  model::Queue team = queue("team");
  team.parent = model::QueueName("org");
  const Plan plan = cycle(input(twoNodes()
                                    .add(org)
                                    .add(team)
                                    .add(running("team"))
                                    .add(podOf(running("team"), "n1"))
                                    .add(job("ml/next").role("worker", 2, gpus(8)).queue("team"))));
  for (const QueueStatusUpdate& each : plan.queues) {
    CHECK(each.status.placed == 1);
    CHECK(each.status.waiting == 1);
  }
  CHECK(plan.queues.size() == 2);
}

TEST_CASE("a placed Gang keeps its charge while its owner asks for another number of pods") {
  model::Job gang = job("ml/pair.pods").role("worker", 3, gpus(8)).placed("n1", "worker", "0-1").ofPods();
  gang.status.gang.charge = model::makeCharge(gang.spec, model::QueueName("default"), 0);
  CHECK(model::sameCharge(gang, model::QueueName("default")));
  CHECK_FALSE(model::sameCharge(gang, model::QueueName("research")));
  gang.owner = nullptr;
  CHECK_FALSE(model::sameCharge(gang, model::QueueName("default")));
}
