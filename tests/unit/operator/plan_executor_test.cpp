#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/silent_log.h"
#include "base/virtual_loop.h"
#include "codec/job.h"
#include "core/cycle.h"
#include "kube/cluster_cache.h"
#include "operator/execute/plan_executor.h"
#include "tests/support/builders.h"
#include "tests/support/fake_api.h"

namespace trainyard::operator_ {
namespace {

using namespace std::chrono_literals;

const model::ObjectKey kJob{"ml", "bert"};

std::string object(int version, const std::string& status, int replicas = 2, std::size_t padding = 0,
                   int generation = 1) {
  return fmt::format(
      R"({{"metadata":{{"namespace":"ml","name":"bert","uid":"u","resourceVersion":"{}","generation":{}}},)"
      R"("spec":{{"framework":"Custom","roles":[{{"name":"worker","replicas":{},"template":{{"spec":)"
      R"({{"containers":[{{"name":"c","args":["{}"]}}]}}}}}}]}},"status":{}}})",
      version, generation, replicas, std::string(padding, 'x'), status);
}

// The API server's state of one job, and how it answers.
class Server final : public test::FakeApi {
 public:
  using test::FakeApi::FakeApi;

  int version = 10;
  std::string status = "{}";  // as it is stored
  std::string pod;            // of its pods, the answer to every read
  // The effect of a write of the status; by default it is refused by a conflict.
  std::function<bool()> write = [] { return false; };
  bool editsSpec = false;      // each version has another generation
  bool takesMetadata = false;  // a patch of the job beside its status succeeds
  int writes = 0;
  int created = 0;
  std::size_t open = 0;  // bytes of pods in unanswered requests
  std::size_t mostOpen = 0;

  void request(kube::ApiRequest request, kube::ApiCallback done) override {
    const std::size_t bytes = request.method == net::Method::kPost ? request.body.size() : 0;
    open += bytes;
    mostOpen = std::max(mostOpen, open);
    FakeApi::request(std::move(request), [this, bytes, done = std::move(done)](auto answer) {
      open -= bytes;
      done(std::move(answer));
    });
  }

 private:
  [[nodiscard]] std::string stored() const { return object(version, status, 2, 0, editsSpec ? version : 1); }

  base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) override {
    if (request.method == net::Method::kPost) {
      ++created;
      return kube::ApiResponse{201, "{}"};
    }
    const bool asksForPod = request.path.find("/pods/") != std::string::npos;
    if (request.method == net::Method::kGet) return kube::ApiResponse{200, asksForPod ? pod : stored()};
    if (takesMetadata && !request.path.ends_with("/status")) return kube::ApiResponse{200, stored()};
    ++writes;
    const bool current =
        request.body.find(fmt::format(R"("resourceVersion":"{}")", version)) != std::string::npos;
    if (!current || !write()) return base::fail(base::ErrorCode::kConflict, "the object has been modified");
    return kube::ApiResponse{200, stored()};
  }
};

struct NoEvents final : JobEvents {
  void record(const model::Job&, const core::JobEvent&) override {}
  void recordOn(const codec::ObjectRef&, const core::JobEvent&) override {}
};

// An operator with a cycle that sets one job's phase to Queued.
struct Fixture {
  base::VirtualLoop loop;
  Server api{loop};
  base::SilentSink nowhere;
  base::Logger log{nowhere, base::LogLevel::kError, "executor"};
  kube::ClusterCache cache{log};
  telemetry::MetricsRegistry registry;
  OperatorMetrics metrics{registry};
  NoEvents events;
  PlanExecutor executor{{api, loop, cache, events, metrics, log}, [this] { decideSoon(); }};

  Fixture() { cache.jobs.upsert(object(api.version, api.status)); }

  void decideSoon() {
    loop.post([this] { decide(); });
  }

  void decide() {
    const auto job = cache.jobs.find(kJob);
    REQUIRE(job);
    const auto feedback = executor.feedback(cache.snapshot(loop.wallNow()));
    const auto known = feedback.find(kJob);
    if (job->status.phase == "Queued" || (known != feedback.end() && known->second.busy)) return;
    core::Plan plan;
    plan.decisions.push_back({.job = job, .status = job->status});
    plan.decisions.back().status->phase = "Queued";
    executor.execute(plan);
  }

  // Runs cycles for a minute, as often as the executor requests one.
  void runForAMinute() {
    for (int i = 0; i < 6'000; ++i) {
      decide();
      loop.runFor(10ms);
    }
  }
};

TEST_CASE("A status that is stored is written once") {
  Fixture fixture;
  fixture.api.write = [&] {
    ++fixture.api.version;
    fixture.api.status = R"({"phase":"Queued"})";
    return true;
  };
  fixture.runForAMinute();
  CHECK(fixture.api.writes == 1);
}

TEST_CASE("A status that is refused by conflicts without any change is written ever less often") {
  Fixture fixture;
  fixture.runForAMinute();
  CHECK(fixture.api.writes >= 3);
  CHECK(fixture.api.writes <= 12);
}

TEST_CASE("A status whose outcome stays unknown is written ever less often") {
  Fixture fixture;
  int writes = 0;
  fixture.api.fault = [&](const kube::ApiRequest& request) -> std::optional<base::Error> {
    if (request.method != net::Method::kPatch) return std::nullopt;
    ++writes;
    return base::Error{base::ErrorCode::kOutcomeUnknown, "500"};
  };
  fixture.runForAMinute();
  CHECK(writes >= 3);
  CHECK(writes <= 12);
}

TEST_CASE("A status that cannot be read back is written ever less often") {
  Fixture fixture;
  fixture.api.write = [&] {
    ++fixture.api.version;
    fixture.api.status = R"({"phase":"Queued","gpus":-5})";
    return true;
  };
  fixture.runForAMinute();
  CHECK(fixture.api.writes >= 3);
  CHECK(fixture.api.writes <= 12);
}

TEST_CASE("A status that the server stores only in part is written ever less often") {
  Fixture fixture;
  fixture.api.write = [&] {
    ++fixture.api.version;
    return true;
  };
  fixture.runForAMinute();
  CHECK(fixture.api.writes >= 3);
  CHECK(fixture.api.writes <= 12);
}

TEST_CASE("A finalizer that is refused by conflicts without any change is written ever less often") {
  Fixture fixture;
  for (int i = 0; i < 6'000; ++i) {
    const auto job = fixture.cache.jobs.find(kJob);
    const auto feedback = fixture.executor.feedback(fixture.cache.snapshot(fixture.loop.wallNow()));
    const auto known = feedback.find(kJob);
    if (known == feedback.end() || !known->second.busy) {
      core::Plan plan;
      plan.decisions.push_back({.job = job});
      plan.decisions.back().actions.emplace_back(core::AddFinalizer{});
      fixture.executor.execute(plan);
    }
    fixture.loop.runFor(10ms);
  }
  CHECK(fixture.api.writes >= 3);
  CHECK(fixture.api.writes <= 12);
}

const std::string kPlaced =
    R"({"gang":{"lastEpoch":1,"placed":{"epoch":1,"assignments":[{"role":"worker","indices":"0-1","node":"n1"}]}}})";
const base::Error kTooLarge{base::ErrorCode::kInvalid, "PATCH: 500: etcdserver: request is too large"};

TEST_CASE("A placed job that is too large for its record loses the metadata that fills it") {
  Fixture fixture;
  std::string stripped;
  fixture.api.fault = [&](const kube::ApiRequest& request) -> std::optional<base::Error> {
    if (request.method != net::Method::kPatch) return std::nullopt;
    const bool isStatus = request.path.ends_with("/status");
    if (isStatus && stripped.empty()) return kTooLarge;
    if (!isStatus) {
      stripped = request.body;
      ++fixture.api.version;
    }
    return std::nullopt;
  };
  fixture.api.write = [&] {
    ++fixture.api.version;
    fixture.api.status = R"({"phase":"Queued"})";
    return true;
  };
  SECTION("a placed job") {
    fixture.api.status = kPlaced;
    fixture.cache.jobs.upsert(object(++fixture.api.version, kPlaced));
    fixture.runForAMinute();
    CHECK_THAT(stripped, Catch::Contains(R"("labels":null,"annotations":null,"ownerReferences":null,)"
                                         R"("finalizers":null,"managedFields":[{}])"));
    CHECK(fixture.api.status == R"({"phase":"Queued"})");
  }
  SECTION("a job that is being started") {
    const std::string starting =
        R"({"gang":{"proposal":{"id":"1","kind":"Start","phase":"Reserved","epoch":1,"term":1,"generation":1,)"
        R"("deadline":"2024-10-04T01:00:00Z","add":[{"role":"worker","indices":"0-1","node":"n1"}]}}})";
    fixture.api.status = starting;
    fixture.cache.jobs.upsert(object(++fixture.api.version, starting));
    REQUIRE(fixture.cache.jobs.find(kJob)->status.gang.proposal);
    fixture.runForAMinute();
    CHECK_FALSE(stripped.empty());
    CHECK(fixture.api.status == R"({"phase":"Queued"})");
  }
  SECTION("but a pending job is left alone and counts as failing") {
    fixture.runForAMinute();
    CHECK(stripped.empty());
    const auto feedback = fixture.executor.feedback(fixture.cache.snapshot(fixture.loop.wallNow()));
    REQUIRE(feedback.contains(kJob));
    CHECK(feedback.at(kJob).failing);
  }
}

TEST_CASE("A placed job whose spec is too large for its record is deleted") {
  Fixture fixture;
  fixture.api.takesMetadata = true;
  std::vector<std::string> sent;
  const bool hasMetadata = GENERATE(false, true);  // to be removed first
  fixture.api.fault = [&](const kube::ApiRequest& request) -> std::optional<base::Error> {
    if (request.method == net::Method::kPatch && request.path.ends_with("/status")) return kTooLarge;
    if (request.method == net::Method::kPatch && hasMetadata && sent.empty()) ++fixture.api.version;
    if (request.method == net::Method::kPatch) sent.push_back(request.body);
    if (request.method == net::Method::kDelete) sent.push_back("delete " + request.path);
    return std::nullopt;
  };
  fixture.api.status = kPlaced;
  fixture.cache.jobs.upsert(object(++fixture.api.version, kPlaced));
  fixture.decide();
  fixture.loop.runFor(100ms);
  REQUIRE(sent.size() >= 3);
  CHECK_THAT(sent[0], Catch::Contains(R"("annotations":null)"));
  CHECK_THAT(sent[1], Catch::Contains(R"("finalizers":null)") && !Catch::Contains("annotations"));
  CHECK_THAT(sent[2], Catch::StartsWith("delete ") && Catch::EndsWith("/trainingjobs/bert"));
}

TEST_CASE("A gang's record is written however often its spec is edited") {
  Fixture fixture;
  fixture.api.status = kPlaced;
  int edits = 0;
  // Each write finds the job edited once more, up to this many times.
  fixture.api.write = [&] {
    ++fixture.api.version;
    if (++edits <= 10) return false;
    fixture.api.status = R"({"phase":"Queued"})";
    return true;
  };
  fixture.api.editsSpec = true;
  fixture.cache.jobs.upsert(object(++fixture.api.version, kPlaced));
  fixture.decide();
  fixture.loop.runFor(100ms);
  CHECK(fixture.api.status == R"({"phase":"Queued"})");
}

TEST_CASE("A pod that is filled up to the storage limit is emptied and then deleted") {
  Fixture fixture;
  fixture.api.pod =
      R"({"metadata":{"namespace":"ml","name":"bert-worker-0","uid":"p","labels":{"trainyard.dev/role":"worker","x":"y"}}})";
  std::string stripped;
  int deleted = 0;
  fixture.api.fault = [&](const kube::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("/pods/") == std::string::npos) return std::nullopt;
    if (request.method == net::Method::kPatch) {
      stripped = request.body;
      return base::Error{base::ErrorCode::kConflict, "whatever comes of it"};
    }
    if (request.method != net::Method::kDelete) return std::nullopt;
    if (stripped.empty()) return kTooLarge;
    ++deleted;
    return base::Error{base::ErrorCode::kNotFound, "gone"};
  };
  core::Plan plan;
  plan.decisions.push_back({.job = fixture.cache.jobs.find(kJob)});
  plan.decisions.back().actions.emplace_back(
      core::DeletePod{.pod = {"ml", "bert-worker-0"}, .uid = model::Uid("p")});
  for (int i = 0; i < 2; ++i) {
    fixture.executor.execute(plan);
    fixture.loop.runFor(300ms);
  }
  CHECK(
      stripped ==
      R"({"metadata":{"uid":"p","labels":{"x":null},"annotations":null,"finalizers":null,"managedFields":[{}]}})");
  CHECK(deleted == 1);
}

TEST_CASE("Bodies of a large gang are not made all at once") {
  constexpr int kMembers = 400;
  Fixture fixture;
  fixture.cache.jobs.upsert(object(11, "{}", kMembers, 500'000));
  const auto job = fixture.cache.jobs.find(kJob);
  REQUIRE(job);
  REQUIRE(job->specError.empty());
  core::Plan plan;
  plan.decisions.push_back({.job = job});
  for (int i = 0; i < kMembers; ++i)
    plan.decisions.back().actions.emplace_back(core::CreateMember{"worker", i, 1, std::nullopt});
  fixture.executor.execute(plan);
  CHECK(fixture.executor.busyJobs() == 1);
  fixture.loop.runFor(1s);
  CHECK(fixture.api.created == kMembers);
  CHECK(fixture.executor.busyJobs() == 0);
  CHECK(fixture.api.mostOpen < (std::size_t{17} << 20));
}

TEST_CASE("A member whose creation got no answer is read before the job continues") {
  Fixture fixture;
  int reads = 0;
  fixture.api.fault = [&](const kube::ApiRequest& request) -> std::optional<base::Error> {
    if (request.method == net::Method::kPost) return base::Error{base::ErrorCode::kOutcomeUnknown, "reset"};
    if (request.method != net::Method::kGet) return std::nullopt;
    return ++reads < 3 ? base::Error{base::ErrorCode::kOutcomeUnknown, "reset"}
                       : base::Error{base::ErrorCode::kNotFound, "no such pod"};
  };
  core::Plan plan;
  plan.decisions.push_back({.job = fixture.cache.jobs.find(kJob)});
  plan.decisions.back().actions.emplace_back(core::CreateMember{"worker", 0, 1, std::nullopt});
  fixture.executor.execute(plan);
  fixture.loop.runFor(1500ms);
  CHECK(reads == 2);
  CHECK(fixture.executor.busyJobs() == 1);
  fixture.loop.runFor(1s);
  CHECK(reads == 3);
  CHECK(fixture.executor.busyJobs() == 0);
}

TEST_CASE("A member that cannot be notified of a resize holds it until its deadline and not for ever") {
  const std::string manifest =
      R"({"metadata":{"namespace":"ml","name":"bert","uid":"u","resourceVersion":"11","generation":1},"spec":{)"
      R"("framework":"PyTorch","elastic":{"role":"worker","minReplicas":1,"maxReplicas":4},"checkpoint":{"mode":)"
      R"("Helper"},"roles":[{"name":"worker","replicas":2,"template":{"spec":{"containers":[{"name":"c"}]}}}]}})";
  Fixture fixture;
  fixture.cache.jobs.upsert(manifest);
  fixture.cache.pods.upsert(
      R"({"metadata":{"namespace":"ml","name":"bert-worker-0","uid":"p","resourceVersion":"3"},)"
      R"("spec":{"nodeName":"n1","containers":[{"name":"c"}]}})");
  model::Job shrinking = *fixture.cache.jobs.find(kJob);
  REQUIRE(shrinking.specError.empty());
  shrinking.status.gang.lastEpoch = 2;
  shrinking.status.gang.placed =
      model::Placed{1, {{model::NodeName("n1"), "worker", model::IndexSet({0, 1})}}};
  model::Proposal& proposal = shrinking.status.gang.proposal.emplace();
  proposal.kind = model::ProposalKind::kShrink;
  proposal.epoch = 2;
  proposal.deadline = fixture.loop.wallNow() + 30s;
  const auto job = std::make_shared<const model::Job>(shrinking);
  int words = 0;
  base::Error refusal;
  fixture.api.fault = [&](const kube::ApiRequest& request) -> std::optional<base::Error> {
    if (request.method == net::Method::kPatch) ++words;
    if (request.method == net::Method::kGet && refusal.code == base::ErrorCode::kConflict)
      return std::nullopt;
    return refusal;
  };
  const auto notified = [&](base::Instant::duration within) {
    model::Snapshot snapshot = fixture.cache.snapshot(fixture.loop.wallNow());
    snapshot.jobs.edit() = {job};
    for (const auto end = fixture.loop.now() + within; fixture.loop.now() < end;) {
      const auto feedback = fixture.executor.feedback(snapshot);
      const auto known = feedback.find(kJob);
      if (known != feedback.end() && known->second.membersNotified) return true;
      if (known == feedback.end() || !known->second.busy) {
        core::Plan plan;
        plan.decisions.push_back({.job = job});
        plan.decisions.back().actions.emplace_back(
            core::NotifyMember{{"ml", "bert-worker-0"}, model::Uid("p")});
        fixture.executor.execute(plan);
      }
      fixture.loop.runFor(10ms);
    }
    return false;
  };
  SECTION("too large to be written") {
    refusal = {base::ErrorCode::kOutcomeUnknown, "etcdserver: request is too large"};
    CHECK_FALSE(notified(29s));
    CHECK(notified(60s));
  }
  SECTION("edited constantly") {
    refusal = {base::ErrorCode::kConflict, "the object has been modified"};
    CHECK_FALSE(notified(29s));
    CHECK(notified(60s));
  }
  SECTION("but a request that does not reach the server does not count") {
    refusal = {base::ErrorCode::kUnavailable, "connection refused"};
    CHECK_FALSE(notified(120s));
  }
  CHECK(words > 1);
}

TEST_CASE("A job with 45000 resources is refused by reason and delays no other job") {
  std::string limits;
  for (int i = 0; i < 45'000; ++i) limits += fmt::format(R"({}"x.io/r{}":"1")", i == 0 ? "" : ",", i);
  const auto wide = codec::decodeJob(fmt::format(
      R"({{"metadata":{{"namespace":"ml","name":"wide","uid":"w","generation":1}},"spec":{{"framework":"Custom",)"
      R"("roles":[{{"name":"worker","replicas":2,"template":{{"spec":{{"containers":[{{"name":"c",)"
      R"("resources":{{"limits":{{{}}}}}}}]}}}}}}]}}}})",
      limits));
  REQUIRE(wide);
  core::CycleInput input;
  input.snapshot = test::cluster()
                       .add(test::node("n1").gpus(8))
                       .add(*wide)
                       .add(test::job("ml/narrow").role("worker", 1, test::gpus(8)))
                       .build();
  input.otherFeedback.templateError = "";
  const core::Plan plan = core::cycle(input);
  REQUIRE(plan.decisions.size() == 2);
  for (const core::JobDecision& decision : plan.decisions) {
    REQUIRE(decision.status);
    if (decision.job->key.name == "narrow") {
      CHECK(decision.status->gang.proposal);
      continue;
    }
    CHECK(decision.actions.empty());
    REQUIRE(decision.status->pending);
    CHECK(decision.status->pending->reason == model::PendingReason::kInvalidTemplate);
    CHECK_THAT(decision.status->pending->message, Catch::Contains("at most 64 are allowed"));
  }
}

TEST_CASE("The status of a job with an absurd number of GPUs stays within its bounds") {
  core::CycleInput input;
  model::Job absurd = test::job("ml/absurd").role("worker", 4'096, test::gpus(4'503'599'627'370'495));
  absurd.specError = "spec.roles: too many";
  input.snapshot = test::cluster().add(test::node("n1").gpus(8)).add(absurd).build();
  const core::Plan plan = core::cycle(input);
  REQUIRE(plan.decisions.size() == 1);
  REQUIRE(plan.decisions.front().status);
  CHECK(plan.decisions.front().status->gpus == INT32_MAX);
}

}  // namespace
}  // namespace trainyard::operator_
