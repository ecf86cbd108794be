#include "core/cycle/cycle.h"
#include "core/autoscaling/nodes_wanted.h"
#include "core/gang/gang_proposals.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "model/conditions.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

model::Queue queueNamed(std::string_view name) {
  model::Queue queue;
  queue.name = model::QueueName(std::string(name));
  return queue;
}

const JobFeedback kTemplatesFine = {.templateError = ""};

CycleInput input(const SnapshotBuilder& builder) {
  CycleInput in;
  in.snapshot = builder.build();
  in.snapshot.policy.ordering = model::Ordering::kFifo;
  in.term = 4;
  for (const auto& job : in.snapshot.jobs) in.feedback[job->key] = kTemplatesFine;
  return in;
}

const JobDecision* decisionFor(const Plan& plan, std::string_view name) {
  const auto at = std::find_if(plan.decisions.begin(), plan.decisions.end(),
                               [&](const JobDecision& d) { return d.job->key == key(name); });
  return at == plan.decisions.end() ? nullptr : &*at;
}

const model::Proposal* proposalFor(const Plan& plan, std::string_view name) {
  const JobDecision* decision = decisionFor(plan, name);
  if (decision == nullptr || !decision->status || !decision->status->gang.proposal) return nullptr;
  return &*decision->status->gang.proposal;
}

std::string_view waitsFor(const Plan& plan, std::string_view name) {
  const JobDecision* decision = decisionFor(plan, name);
  if (decision == nullptr || !decision->status || !decision->status->pending) return "";
  return model::toString(decision->status->pending->reason);
}

// Two nodes of 8 GPUs, one of them full.
SnapshotBuilder halfFull() {
  return cluster()
      .add(node("n1").gpus(8))
      .add(node("n2").gpus(8))
      .add(pod("other/filler").on("n2").gpus(8))
      .now(100);
}

}  // namespace

TEST_CASE("without backfill the first job that must wait for capacity holds up only its queue") {
  CycleInput in = input(halfFull()
                            .add(job("ml/big").role("worker", 2, gpus(8)).created(1))
                            .add(job("ml/small").role("worker", 1, gpus(1)).created(2))
                            .add(queueNamed("vision"))
                            .add(job("ml/elsewhere").role("worker", 1, gpus(1)).queue("vision").created(3)));
  in.snapshot.policy.backfill.enabled = false;
  const Plan plan = cycle(in);
  CHECK(waitsFor(plan, "ml/big") == "WaitingForCapacity");
  CHECK(waitsFor(plan, "ml/small") == "WaitingForTurn");
  CHECK(proposalFor(plan, "ml/elsewhere") != nullptr);
}

TEST_CASE("a job whose volume is missing waits for it and requests no nodes") {
  model::Job made = job("ml/notebook").role("worker", 1, gpus(1)).created(1);
  made.volumeProblem = "the pods of role worker cannot run: PersistentVolumeClaim home does not exist";
  const Plan plan = cycle(input(halfFull().add(made)));
  CHECK(waitsFor(plan, "ml/notebook") == "WaitingForVolume");
  const JobDecision* decision = decisionFor(plan, "ml/notebook");
  made.status = *decision->status;
  CHECK(made.status.pending->message == made.volumeProblem);
  CHECK_FALSE(wantsNodes(made, model::defaultTopologyLevels()));
}

TEST_CASE("a user's text loses control characters and causes no write in the next cycle") {
  model::Job made = job("ml/hostile").role("worker", 1, gpus(1)).created(1);
  made.specError = "spec.roles[a\u202Eb\u2028c\u200B]: is\x07 no name";
  CycleInput in = input(halfFull().add(made));
  const Plan plan = cycle(in);
  const JobDecision* decision = decisionFor(plan, "ml/hostile");
  REQUIRE(decision != nullptr);
  const std::string plain = "spec.roles[ab c]: is  no name";
  CHECK(decision->status->pending->message == plain);
  for (const model::Condition& each : decision->status->conditions)
    CHECK((each.message.empty() || each.message.find("\u202E") == std::string::npos));
  made.status = *decision->status;
  const Plan again = cycle(input(halfFull().add(made)));
  const JobDecision* second = decisionFor(again, "ml/hostile");
  CHECK((second == nullptr || (second->events.empty() && second->status == made.status)));
}

TEST_CASE("the queue that a job waits in is the one that its namespace names") {
  CycleInput in =
      input(halfFull().add(queueNamed("vision")).add(job("ml/big").role("worker", 2, gpus(8)).created(1)));
  in.snapshot.namespaces.push_back(std::make_shared<const model::Namespace>(model::Namespace{
      .name = "ml",
      .uid = {},
      .labels = model::Labels(
          std::vector<std::pair<std::string, std::string>>{{"trainyard.dev/default-queue", "vision"}})}));
  const Plan plan = cycle(in);
  REQUIRE(decisionFor(plan, "ml/big") != nullptr);
  CHECK(decisionFor(plan, "ml/big")->status->queue.str() == "vision");
}

TEST_CASE("a job that can never fit holds up no other job") {
  const Plan plan = cycle(input(halfFull()
                                    .add(job("ml/huge").role("worker", 3, gpus(8)).created(1))
                                    .add(job("ml/small").role("worker", 1, gpus(1)).created(2))));
  CHECK(waitsFor(plan, "ml/huge") == "TooLarge");
  CHECK(proposalFor(plan, "ml/small") != nullptr);
}

TEST_CASE("a job whose write is under way keeps its position") {
  CycleInput in = input(halfFull()
                            .add(job("ml/big").role("worker", 2, gpus(8)).created(1))
                            .add(job("ml/small").role("worker", 1, gpus(1)).created(2)));
  in.feedback[key("ml/big")].busy = true;
  const Plan plan = cycle(in);
  CHECK(decisionFor(plan, "ml/big") == nullptr);
  CHECK(waitsFor(plan, "ml/small") == "ReservedForOthers");
}

TEST_CASE("a busy job that could start still reserves its capacity") {
  CycleInput in = input(halfFull()
                            .add(job("ml/first").role("worker", 1, gpus(8)).created(1))
                            .add(job("ml/second").role("worker", 1, gpus(8)).created(2)));
  in.feedback[key("ml/first")].busy = true;
  CHECK(proposalFor(cycle(in), "ml/second") == nullptr);
}

TEST_CASE("a busy job reserves nothing that it cannot have and nothing while its writes fail") {
  const auto secondStarts = [](std::string_view queueOfFirst, bool failing) {
    CycleInput in = input(halfFull()
                              .add(job("ml/first").role("worker", 1, gpus(8)).created(1).queue(queueOfFirst))
                              .add(job("ml/second").role("worker", 1, gpus(8)).created(2)));
    in.feedback[key("ml/first")].busy = true;
    in.feedback[key("ml/first")].failing = failing;
    const Plan plan = cycle(in);
    const JobDecision* second = decisionFor(plan, "ml/second");
    return second != nullptr && second->podIsRecord;
  };
  CHECK_FALSE(secondStarts("default", false));
  CHECK(secondStarts("nobodys", false));
  CHECK(secondStarts("default", true));
}

TEST_CASE("templates are checked before a job is planned") {
  CycleInput in = input(halfFull().add(job("ml/bert").role("worker", 1, gpus(1))));
  in.feedback.clear();
  const Plan plan = cycle(in);
  REQUIRE(decisionFor(plan, "ml/bert") != nullptr);
  REQUIRE(decisionFor(plan, "ml/bert")->actions.size() == 1);
  CHECK(std::holds_alternative<CheckTemplates>(decisionFor(plan, "ml/bert")->actions.front()));
}

TEST_CASE("a single-pod job starts with its pod alone and nothing is written before it is bound") {
  CycleInput in = input(halfFull().add(job("ml/solo").role("worker", 1, gpus(1))));
  const Plan start = cycle(in);
  const JobDecision* begun = decisionFor(start, "ml/solo");
  REQUIRE(begun != nullptr);
  CHECK(begun->podIsRecord);
  CHECK(begun->events.empty());
  REQUIRE(begun->actions.size() == 1);
  const auto& create = std::get<CreateMember>(begun->actions.front());
  CHECK(create.epoch == 1);
  CHECK(create.pinned == model::NodeName("n1"));

  // The executor shows the job like this from then on.
  model::Job known = *in.snapshot.jobs.front();
  known.status.gang = begun->status->gang;
  known.recordUnwritten = true;
  const auto next = [&](std::int64_t now, bool bound) {
    model::Pod own = pod("ml/x").memberOf(known, "worker", 0, 1).gpus(1);
    own.created = at(100);
    if (bound) {
      own.node = model::NodeName("n1");
    } else {
      own.pinned = model::NodeName("n1");
    }
    CycleInput later = input(halfFull().now(now).add(known).add(own));
    const Plan plan = cycle(later);
    const JobDecision* decision = decisionFor(plan, "ml/solo");
    return decision != nullptr ? decision->status : std::nullopt;
  };
  CHECK_FALSE(next(101, false));
  // It is written if the start takes long.
  REQUIRE(next(111, false));
  CHECK(next(111, false)->gang.proposal);
  REQUIRE(next(101, true));
  CHECK(next(101, true)->gang.placed);
}

TEST_CASE("a template check that an equal job has under way is not repeated") {
  CycleInput in = input(halfFull().add(job("ml/bert").role("worker", 1, gpus(1))));
  in.feedback[key("ml/bert")] = {.templateAsked = true};
  CHECK(decisionFor(cycle(in), "ml/bert") == nullptr);
}

TEST_CASE("a backlog starts a bounded number of members at a time and in order") {
  CycleInput in = input(halfFull()
                            .add(job("ml/a").role("worker", 3, gpus(1)).created(1))
                            .add(job("ml/b").role("worker", 3, gpus(1)).created(2))
                            .add(job("ml/c").role("worker", 1, gpus(1)).created(99)));
  in.settings.startingMembers = 3;
  const Plan plan = cycle(in);
  CHECK(proposalFor(plan, "ml/a") != nullptr);
  CHECK(waitsFor(plan, "ml/b") == "WaitingForTurn");
  CHECK(decisionFor(plan, "ml/c") == nullptr);
  CHECK(plan.wakeAt == at(109));

  in.settings.startingMembers = 2;
  CHECK(proposalFor(cycle(in), "ml/a") != nullptr);
}

TEST_CASE("a refused template is reported once and nothing else happens") {
  CycleInput in = input(halfFull().add(job("ml/bert").role("worker", 1, gpus(1))));
  in.feedback[key("ml/bert")].templateError = "spec.roles[worker].template: no such field";
  const Plan plan = cycle(in);
  CHECK(waitsFor(plan, "ml/bert") == "InvalidTemplate");
  CHECK(proposalFor(plan, "ml/bert") == nullptr);
  CHECK(decisionFor(plan, "ml/bert")->events.size() == 1);

  model::Job reported = job("ml/bert").role("worker", 1, gpus(1));
  reported.status = *decisionFor(plan, "ml/bert")->status;
  CycleInput again = input(halfFull().add(reported));
  again.feedback[key("ml/bert")].templateError = "spec.roles[worker].template: no such field";
  CHECK(decisionFor(cycle(again), "ml/bert") == nullptr);
}

TEST_CASE("a job that Kueue holds is pending with Kueue's message, and is not placed") {
  model::Job bert = job("ml/bert").role("worker", 1, gpus(1));
  bert.spec.run.suspend = true;
  bert.heldByKueue = "waits in Kueue's LocalQueue research";
  CycleInput in = input(halfFull().add(bert));
  in.feedback[key("ml/bert")].templateError = "";
  const auto statusOf = [](const Plan& plan) { return *decisionFor(plan, "ml/bert")->status; };
  const model::JobStatus held = statusOf(cycle(in));
  CHECK(held.phase == "Queued");
  REQUIRE(held.pending);
  CHECK(held.pending->reason == model::PendingReason::kWaitingForKueue);
  CHECK(held.pending->message == bert.heldByKueue);
  CHECK_FALSE(held.gang.proposal);

  in.feedback[key("ml/bert")].templateError = "spec.roles[worker].template: no such field";
  CHECK(statusOf(cycle(in)).pending->reason == model::PendingReason::kInvalidTemplate);
}

TEST_CASE("a suspended job is admitted or refused once its templates are checked") {
  const auto planOf = [](model::Job subject, std::optional<std::string> templateError) {
    CycleInput in = input(halfFull().add(std::move(subject)));
    in.feedback[key("ml/bert")].templateError = std::move(templateError);
    return cycle(in);
  };
  const auto statusOf = [](const Plan& plan) { return *decisionFor(plan, "ml/bert")->status; };
  const auto admitted = [](const model::JobStatus& status) -> std::string {
    for (const auto& each : status.conditions)
      if (each.type == model::conditions::kAdmitted) return each.reason;
    return "";
  };
  model::Job bert = job("ml/bert").role("worker", 1, gpus(1));
  bert.spec.run.suspend = true;

  const Plan asking = planOf(bert, std::nullopt);
  REQUIRE(decisionFor(asking, "ml/bert")->actions.size() == 1);
  CHECK(std::holds_alternative<CheckTemplates>(decisionFor(asking, "ml/bert")->actions.front()));
  CHECK(statusOf(asking).phase == "Suspended");
  CHECK(admitted(statusOf(asking)).empty());

  CHECK(admitted(statusOf(planOf(bert, ""))) == "Admitted");

  const Plan refused = planOf(bert, "spec.roles[worker].template: no such field");
  CHECK(statusOf(refused).phase == "Suspended");
  CHECK(admitted(statusOf(refused)) == "InvalidTemplate");
  CHECK_FALSE(statusOf(refused).pending);
  model::Job refusedJob = bert;
  refusedJob.status = statusOf(refused);
  CHECK_FALSE(refusedJob.conditionTrue(model::conditions::kReady));
  CHECK(refusedJob.conditionTrue(model::conditions::kStalled));
  CHECK(decisionFor(refused, "ml/bert")->events.size() == 1);
  model::Job reported = bert;
  reported.status = statusOf(refused);
  CHECK(decisionFor(planOf(reported, "spec.roles[worker].template: no such field"), "ml/bert") == nullptr);

  bert.specError = "spec.roles[worker].template.spec.affinity: no";
  bert.errorInTemplate = true;
  CHECK(admitted(statusOf(planOf(bert, ""))) == "InvalidTemplate");
}

TEST_CASE("proposals carry the leader's term and their nodes are taken within the cycle") {
  const Plan plan = cycle(input(halfFull()
                                    .add(job("ml/a").role("worker", 1, gpus(8)).created(1))
                                    .add(job("ml/b").role("worker", 1, gpus(8)).created(2))));
  REQUIRE(proposalFor(plan, "ml/a") != nullptr);
  CHECK(proposalFor(plan, "ml/a")->term == 4);
  CHECK(waitsFor(plan, "ml/b") == "WaitingForCapacity");
}

namespace {

model::Job running() {
  model::Job bert =
      job("ml/bert").role("worker", 2, gpus(8)).placed("n1", "worker", "0").placed("n2", "worker", "1");
  bert.status.gang.lastEpoch = 1;
  bert.hasReleaseFinalizer = true;
  return bert;
}

SnapshotBuilder threeNodes() {
  return cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).add(node("n3").gpus(8)).now(100);
}

model::Pod memberOn(const model::Job& bert, int index, std::string_view nodeName) {
  return pod("x").memberOf(bert, "worker", index).gpus(8).on(nodeName).phase(model::PodPhase::kRunning);
}

}  // namespace

TEST_CASE("a lost member restarts the whole gang and the gang may stay on its nodes") {
  const model::Job bert = running();
  const Plan plan = cycle(input(threeNodes().add(bert).add(memberOn(bert, 0, "n1"))));
  const model::Proposal* proposal = proposalFor(plan, "ml/bert");
  REQUIRE(proposal != nullptr);
  CHECK(proposal->kind == model::ProposalKind::kRestart);
  CHECK(proposal->phase == model::ProposalPhase::kClaiming);
  CHECK(proposal->remove.size() == 2);
  CHECK(proposal->add.size() == 2);
  CHECK(decisionFor(plan, "ml/bert")->status->phase == "Restarting");
}

TEST_CASE("a pod that was lost before its record was written is recorded first") {
  model::Job solo = job("ml/solo").role("worker", 1, gpus(8)).placed("n1", "worker", "0");
  solo.status.gang.lastEpoch = 1;
  solo.recordUnwritten = true;
  const Plan plan = cycle(input(threeNodes().add(solo)));
  REQUIRE(decisionFor(plan, "ml/solo") != nullptr);
  REQUIRE(decisionFor(plan, "ml/solo")->status);
  CHECK(decisionFor(plan, "ml/solo")->status->gang.placed);
  CHECK(proposalFor(plan, "ml/solo") == nullptr);
  CHECK(decisionFor(plan, "ml/solo")->urgency == Urgency::kNow);
}

TEST_CASE("a lost member is replaced alone where the job requests it") {
  model::Job bert = running();
  bert.spec.failure.scope = model::RestartScope::kPod;
  const Plan plan = cycle(input(threeNodes().add(bert).add(memberOn(bert, 0, "n1"))));
  const model::Proposal* proposal = proposalFor(plan, "ml/bert");
  REQUIRE(proposal != nullptr);
  CHECK(proposal->kind == model::ProposalKind::kReplace);
  REQUIRE(proposal->add.size() == 1);
  CHECK(proposal->add.front().indices.str() == "1");
}

TEST_CASE("a restart names the pod that it awaits beyond its grace") {
  model::Job bert = running();
  bert.status.gang.lastEpoch = 2;
  model::Proposal& restart = bert.status.gang.proposal.emplace();
  restart.kind = model::ProposalKind::kRestart;
  restart.phase = model::ProposalPhase::kClaiming;
  restart.epoch = 2;
  restart.generation = bert.generation;
  restart.templateHash = bert.spec.templateHash;
  restart.add = bert.status.gang.placed->assignments;
  restart.remove = bert.status.gang.placed->assignments;
  model::Pod leaving = memberOn(bert, 1, "n2");
  leaving.terminating = true;
  leaving.deletionTime = at(130);
  const auto text = [&](std::int64_t now) {
    const Plan plan = cycle(input(threeNodes().now(now).add(bert).add(leaving)));
    REQUIRE(decisionFor(plan, "ml/bert"));
    for (const auto& each : decisionFor(plan, "ml/bert")->status->conditions) {
      if (each.type == "Restarting") return each.message + (plan.wakeAt == at(130) ? ", wakes" : "");
    }
    return std::string();
  };
  CHECK(text(100) == "restarts on 2 nodes, wakes");
  CHECK(text(130) == "restarts on 2 nodes; pod bert-worker-1 on node n2 does not terminate");
}

TEST_CASE("a gang whose pods do not start names a waiting pod and its reason") {
  const model::Job bert = running();
  const auto text = [&](std::string_view waiting) {
    model::Pod second = memberOn(bert, 1, "n2");
    second.phase = model::PodPhase::kPending;
    second.waitingReason = waiting;
    const Plan plan = cycle(input(threeNodes().add(bert).add(memberOn(bert, 0, "n1")).add(second)));
    REQUIRE(decisionFor(plan, "ml/bert"));
    for (const auto& each : decisionFor(plan, "ml/bert")->status->conditions) {
      if (each.type == "Running") return each.message;
    }
    return std::string();
  };
  CHECK(text("ContainerCreating") == "1 of 2 pods run");
  CHECK(text("ErrImageNeverPull") ==
        "1 of 2 pods run; pod bert-worker-1 on node n2 waits: ErrImageNeverPull");
  CHECK(text("ErrImagePull") == text("ImagePullBackOff"));
}

TEST_CASE("a replacement that was given up is tried again after its back-off and first on another node") {
  model::Job bert = running();
  bert.spec.failure.scope = model::RestartScope::kPod;
  bert.status.gang.backoff = model::Backoff{at(107), 3, {model::NodeName("n2")}, "node n2 refused it"};
  const auto plan = [&](std::int64_t now) {
    return cycle(input(threeNodes().now(now).add(bert).add(memberOn(bert, 0, "n1"))));
  };
  const Plan early = plan(100);
  CHECK(proposalFor(early, "ml/bert") == nullptr);
  CHECK(early.wakeAt == at(107));
  REQUIRE(decisionFor(early, "ml/bert"));
  REQUIRE(decisionFor(early, "ml/bert")->status->pending);
  CHECK(decisionFor(early, "ml/bert")->status->pending->reason == model::PendingReason::kBackingOff);
  CHECK(decisionFor(early, "ml/bert")->status->gang.placed == bert.status.gang.placed);
  const auto& conditions = decisionFor(early, "ml/bert")->status->conditions;
  const auto restarting = std::find_if(conditions.begin(), conditions.end(),
                                       [](const auto& each) { return each.type == "Restarting"; });
  REQUIRE(restarting != conditions.end());
  CHECK(restarting->status == model::ConditionStatus::kTrue);
  CHECK(restarting->reason == "BackingOff");

  const Plan later = plan(107);
  const model::Proposal* proposal = proposalFor(later, "ml/bert");
  REQUIRE(proposal != nullptr);
  CHECK(proposal->kind == model::ProposalKind::kReplace);
  CHECK(proposal->add.front().node == model::NodeName("n3"));
}

TEST_CASE("a gang that lost a member and no longer fits is pending again") {
  const model::Job bert = running();
  const Plan plan =
      cycle(input(cluster().add(node("n1").gpus(8)).now(100).add(bert).add(memberOn(bert, 0, "n1"))));
  const model::Proposal* proposal = proposalFor(plan, "ml/bert");
  REQUIRE(proposal != nullptr);
  CHECK(proposal->kind == model::ProposalKind::kRestart);
  CHECK(proposal->add.empty());
}

TEST_CASE("a job behind a gang that ends waits for capacity and not for its queue") {
  const model::Job bert = running();
  SnapshotBuilder builder = threeNodes().add(bert);
  for (const auto& [index, nodeName] : {std::pair(0, "n1"), std::pair(1, "n2")}) {
    model::Pod over = memberOn(bert, index, nodeName);
    over.phase = model::PodPhase::kSucceeded;
    builder.add(over);
  }
  CycleInput in = input(builder.add(job("ml/next").created(2).role("worker", 2, gpus(8)))
                            .add(job("ml/third").created(3).role("worker", 2, gpus(8))));
  SECTION("it ends now") {
    const Plan plan = cycle(in);
    CHECK(decisionFor(plan, "ml/bert")->status->phase == "Succeeded");
    CHECK(proposalFor(plan, "ml/next") != nullptr);
    CHECK(waitsFor(plan, "ml/third") == "WaitingForCapacity");
  }
  SECTION("its end is being written") {
    in.feedback[key("ml/bert")].busy = true;
    CHECK(waitsFor(cycle(in), "ml/third") == "WaitingForCapacity");
  }
}

TEST_CASE("no gang is preempted for a claim before the claim is written and complete") {
  const model::Job bert = running();
  const model::Pod first = memberOn(bert, 0, "n1");
  const model::Pod second = memberOn(bert, 1, "n2");
  model::Job urgent = job("ml/urgent")
                          .role("worker", 2, gpus(8))
                          .proposes("n1", "worker", "0", model::ProposalPhase::kClaiming)
                          .proposes("n2", "worker", "1", model::ProposalPhase::kClaiming)
                          .victim(first)
                          .victim(second);
  urgent.status.gang.proposal->deadline = at(1'000);
  urgent.hasReleaseFinalizer = true;
  SnapshotBuilder builder = threeNodes().add(bert).add(first).add(second).add(urgent);
  builder.add(pod("").memberOf(urgent, "worker", 0).gpus(8).gated());
  const model::Snapshot oneIsMissing = builder;
  CycleInput in = input(builder.add(pod("").memberOf(urgent, "worker", 1).gpus(8).gated()));
  SECTION("its write is under way and may fail") {
    in.feedback[key("ml/urgent")].busy = true;
    CHECK(proposalFor(cycle(in), "ml/bert") == nullptr);
  }
  SECTION("one of its pods does not exist") {
    in.snapshot = oneIsMissing;
    in.feedback[key("ml/urgent")].auxiliariesReady = true;
    const Plan plan = cycle(in);
    CHECK(proposalFor(plan, "ml/bert") == nullptr);
    REQUIRE(decisionFor(plan, "ml/urgent"));
    CHECK(std::holds_alternative<CreateMember>(decisionFor(plan, "ml/urgent")->actions.front()));
  }
  SECTION("the API refused it") {
    in.feedback[key("ml/urgent")].creationRefused = JobFeedback::CreationRefused{"Forbidden", "no"};
    CHECK(proposalFor(cycle(in), "ml/bert") == nullptr);
  }
  SECTION("it is complete") {
    const Plan plan = cycle(in);
    REQUIRE(proposalFor(plan, "ml/bert") != nullptr);
    CHECK(proposalFor(plan, "ml/bert")->kind == model::ProposalKind::kRestart);
  }
}

TEST_CASE("a gang that moves for a claim runs until the claim is complete and stays if it is aborted") {
  model::Job bert = running();
  const model::Pod first = memberOn(bert, 0, "n1");
  const model::Pod second = memberOn(bert, 1, "n2");
  model::Job urgent = job("ml/urgent")
                          .role("worker", 1, gpus(8))
                          .proposes("n2", "worker", "0", model::ProposalPhase::kClaiming)
                          .victim(first)
                          .victim(second);
  urgent.status.gang.proposal->deadline = at(1'000);
  urgent.hasReleaseFinalizer = true;
  const Settings settings;
  bert.status.gang = proposeMove(bert,
                                 {{model::NodeName("n1"), "worker", model::IndexSet({0})},
                                  {model::NodeName("n3"), "worker", model::IndexSet({1})}},
                                 urgent.key, {1, at(0), &settings});
  const auto planOf = [&](const std::vector<model::Pod>& pods) {
    SnapshotBuilder builder = threeNodes().add(bert).add(urgent);
    for (const model::Pod& each : pods) builder.add(each);
    return cycle(input(builder));
  };
  const model::Pod born = pod("").memberOf(urgent, "worker", 0).gpus(8).gated();
  SECTION("its pods do not all exist") {
    const Plan plan = planOf({first, second});
    const JobDecision* own = decisionFor(plan, "ml/bert");
    CHECK((own == nullptr || own->actions.empty()));
  }
  SECTION("it is complete") {
    const Plan plan = planOf({first, second, born});
    REQUIRE(proposalFor(plan, "ml/bert") != nullptr);
    CHECK_FALSE(proposalFor(plan, "ml/bert")->movesFor);
    CHECK(decisionFor(plan, "ml/bert")->status->preemptions.count == 1);
    CHECK(decisionFor(plan, "ml/bert")->status->preemptions.by.has_value());
  }
  SECTION("it was aborted") {
    urgent.status.gang.proposal->phase = model::ProposalPhase::kAborting;
    const Plan plan = planOf({first, second, born});
    REQUIRE(decisionFor(plan, "ml/bert"));
    CHECK_FALSE(decisionFor(plan, "ml/bert")->status->gang.proposal);
    CHECK(decisionFor(plan, "ml/bert")->status->gang.placed == bert.status.gang.placed);
    CHECK(decisionFor(plan, "ml/bert")->status->preemptions.count == 0);
  }
  SECTION("a member is lost before and comes first") {
    const Plan plan = planOf({first});
    REQUIRE(decisionFor(plan, "ml/bert"));
    CHECK_FALSE(decisionFor(plan, "ml/bert")->status->gang.proposal);
  }
}

namespace {

// How often ml/urgent claims each node within a day, if it can run on none for an unknown reason.
std::map<std::string, int> claimsInADay(int nodes) {
  SnapshotBuilder builder = cluster().priorityClass("high", 1'000);
  for (int i = 1; i <= nodes; ++i) {
    const std::string name = fmt::format("n{}", i);
    model::Job victim = job("ml/on-" + name).role("worker", 1, gpus(8)).placed(name, "worker", "0");
    victim.spec.preemptible = true;
    victim.status.gpus = 8;
    victim.status.conditions.push_back(
        {"Scheduled", model::ConditionStatus::kTrue, "GangPlaced", {}, at(0), 1});
    builder.add(node(name).gpus(8)).add(pod("").memberOf(victim, "worker", 0).gpus(8).on(name)).add(victim);
  }
  model::Job urgent = job("ml/urgent").role("worker", 1, gpus(8)).priority("high");
  const Settings settings;
  std::map<std::string, int> claims;
  constexpr std::int64_t kDay = 86'400;
  for (base::WallTime now = at(1'000); now < at(1'000 + kDay);) {
    SnapshotBuilder scene = builder;
    CycleInput in = input(scene.add(urgent));
    in.snapshot.now = now;
    const Plan plan = cycle(in);
    now = plan.wakeAt.value_or(at(1'000 + kDay));
    const model::Proposal* claim = proposalFor(plan, "ml/urgent");
    if (claim == nullptr) continue;
    const model::NodeName where = claim->add.front().node;
    ++claims[where.str()];
    urgent.status.gang = decisionFor(plan, "ml/urgent")->status->gang;
    urgent.status.gang = abortProposal(urgent, "does not get its place", {where}, in.snapshot.now, settings);
    urgent.status.gang = dropProposal(urgent);
    now = urgent.status.gang.backoff->until;
  }
  return claims;
}

}  // namespace

TEST_CASE("a gang that can run on no node does not preempt others for the same nodes repeatedly") {
  for (const int nodes : {1, 2, 3}) {
    const auto claims = claimsInADay(nodes);
    CAPTURE(nodes);
    CHECK(claims.size() == static_cast<std::size_t>(nodes));
    for (const auto& [name, count] : claims) CHECK(count < 9);
  }
}

TEST_CASE("an error of the program fails the job; an eviction does not") {
  const model::Job bert = running();
  model::Pod failed = memberOn(bert, 1, "n2");
  failed.phase = model::PodPhase::kFailed;
  SECTION("exit code") {
    failed.exit = model::ContainerExit{3, "Error", ""};
    CycleInput in = input(threeNodes().add(bert).add(memberOn(bert, 0, "n1")).add(failed));
    in.feedback[key("ml/bert")].failure.emplace().failure = model::FailureClass::kImportError;
    CHECK(decisionFor(cycle(in), "ml/bert")->status->phase == "Failed");
  }
  SECTION("eviction") {
    failed.statusReason = "Evicted";
    const Plan plan = cycle(input(threeNodes().add(bert).add(memberOn(bert, 0, "n1")).add(failed)));
    CHECK(decisionFor(plan, "ml/bert")->status->phase == "Restarting");
  }
}

TEST_CASE("an unready or cordoned node does not affect placed gangs") {
  const model::Job bert = running();
  for (const bool cordoned : {true, false}) {
    model::Node bad = node("n1").gpus(8);
    (cordoned ? bad.unschedulable : bad.deleting) = true;
    bad.ready = cordoned;
    const Plan plan = cycle(input(cluster()
                                      .add(bad)
                                      .add(node("n2").gpus(8))
                                      .now(100)
                                      .add(bert)
                                      .add(memberOn(bert, 0, "n1"))
                                      .add(memberOn(bert, 1, "n2"))));
    CHECK(proposalFor(plan, "ml/bert") == nullptr);
  }
}

TEST_CASE("a pod of another namespace that copied a member's name and owner changes nothing") {
  // It sorts before the member: a lookup by name or uid alone finds it first.
  const model::Job bert = running();
  model::Pod copy = memberOn(bert, 0, "n3");
  copy.key.ns = "a";
  copy.uid = model::Uid("copied");
  const Plan plan = cycle(
      input(threeNodes().add(bert).add(copy).add(memberOn(bert, 0, "n1")).add(memberOn(bert, 1, "n2"))));
  CHECK(proposalFor(plan, "ml/bert") == nullptr);
  for (const JobDecision& decision : plan.decisions) CHECK(decision.actions.empty());
  CHECK(plan.orphans.empty());
}

TEST_CASE("a pod that claims a placed job under a name of its own is deleted") {
  const model::Job bert = running();
  model::Pod copy = memberOn(bert, 0, "n3");
  copy.key.name = "bert-worker-0-copy";
  copy.uid = model::Uid("copied");
  const Plan plan = cycle(
      input(threeNodes().add(bert).add(memberOn(bert, 0, "n1")).add(copy).add(memberOn(bert, 1, "n2"))));
  CHECK(proposalFor(plan, "ml/bert") == nullptr);
  REQUIRE(plan.decisions.size() == 1);
  REQUIRE(plan.decisions.front().actions.size() == 1);
  CHECK(std::get<DeletePod>(plan.decisions.front().actions.front()).uid == copy.uid);
}

TEST_CASE("a gated pod of a deleted job is deleted") {
  const model::Job gone = running();
  const Plan plan = cycle(input(threeNodes().add(pod("x").memberOf(gone, "worker", 0).gpus(8).gated())));
  CHECK(plan.orphans.size() == 1);
}

TEST_CASE("a member that the garbage collector left to a second owner is deleted") {
  const model::Job gone = running();
  model::Pod kept = memberOn(gone, 0, "n1");
  kept.controllerUid = model::Uid();
  kept.controllerKind.clear();
  CHECK(cycle(input(threeNodes().add(kept))).orphans.size() == 1);
  kept.key.name = "notebook";
  CHECK(cycle(input(threeNodes().add(kept))).orphans.empty());
}

TEST_CASE("an elastic gang that does not fit starts smaller and if necessary on a node that failed it") {
  JobBuilder gang = job("ml/bert");
  gang.role("worker", 4, gpus(8));
  model::Job late = gang;
  late.spec.elastic = model::Elastic{.role = "worker", .replicas = 4, .minReplicas = 3, .maxReplicas = 4};
  late.status.gang.backoff = {
      .until = {}, .count = 1, .avoidNodes = {model::NodeName("n1")}, .reason = "cordoned"};
  const CycleInput in =
      input(cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).add(node("n3").gpus(8)).add(late));
  const Plan plan = cycle(in);
  const model::Proposal* proposal = proposalFor(plan, "ml/bert");
  REQUIRE(proposal != nullptr);
  CHECK(proposal->add.size() == 3);
}
