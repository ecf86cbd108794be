#include "operator/single_records.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/silent_log.h"
#include "core/gang/gang_proposals.h"

namespace trainyard::operator_ {
namespace {

const model::ObjectKey kJob{"ml", "solo"};

struct Scene {
  base::SilentSink nowhere;
  base::Logger log{nowhere, base::LogLevel::kError, "cache"};
  kube::ClusterCache cache{log};
  core::Settings settings;
  SingleRecords singles{cache, settings};
  int version = 1;

  void putJob(std::string_view uid, std::string_view status = "{}", int replicas = 1) {
    cache.jobs.upsert(fmt::format(
        R"({{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","metadata":{{"namespace":"ml","name":"solo",)"
        R"("uid":"{}","resourceVersion":"{}","generation":1,"creationTimestamp":"2024-10-04T00:00:00Z"}},"spec":{{)"
        R"("roles":[{{"name":"worker","replicas":{},"template":{{"spec":{{"containers":[{{"name":"main",)"
        R"("image":"x"}}]}}}}}}]}},"status":{}}})",
        uid, ++version, replicas, status));
    REQUIRE(cache.jobs.find(kJob));
  }

  void putPod(std::string_view uid, std::string_view ofJob, int epoch, std::string_view node,
              std::string_view pinned = "", std::string_view name = "solo-worker-0", int gpus = 0,
              int index = 0) {
    const std::string affinity =
        pinned.empty()
            ? ""
            : fmt::format(
                  R"("affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{)"
                  R"("nodeSelectorTerms":[{{"matchFields":[{{"key":"metadata.name","operator":"In",)"
                  R"("values":["{}"]}}]}}]}}}}}},)",
                  pinned);
    cache.pods.upsert(fmt::format(
        R"({{"metadata":{{"namespace":"ml","name":"{}","uid":"{}","resourceVersion":"{}",)"
        R"("creationTimestamp":"2024-10-04T00:00:09Z","labels":{{"trainyard.dev/job-name":"solo",)"
        R"("trainyard.dev/role":"worker","trainyard.dev/index":"{}","trainyard.dev/epoch":"{}"}},)"
        R"("ownerReferences":[{{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","name":"solo",)"
        R"("uid":"{}","controller":true}}]}},"spec":{{{}"nodeName":"{}","containers":[{{"name":"main",)"
        R"("resources":{{"limits":{{"nvidia.com/gpu":"{}"}}}}}}]}}}})",
        name, uid, ++version, index, epoch, ofJob, affinity, node, gpus));
    REQUIRE(cache.pods.find({"ml", std::string(name)}));
  }

  void dropPod(std::string_view uid) { cache.pods.forget({"ml", "solo-worker-0"}, uid); }

  void make(std::string_view node, std::optional<model::Charge> charge = std::nullopt) {
    const auto job = cache.jobs.find(kJob);
    model::GangRecord record = core::propose(
        *job, model::ProposalKind::kStart,
        {{model::NodeName(std::string(node)), "worker", model::IndexSet({0})}}, {}, {}, {1, {}, &settings});
    record.charge = std::move(charge);
    singles.making(*job, std::move(record), {});
  }

  [[nodiscard]] std::shared_ptr<const model::Job> seen() {
    model::Snapshot snapshot = cache.snapshot({});
    singles.overlay(snapshot);
    REQUIRE(snapshot.jobs.size() == 1);
    return snapshot.jobs.front();
  }

  // The node of the job's placement; empty if it has none that is not yet written.
  [[nodiscard]] std::string place() {
    const auto job = seen();
    if (!job->recordUnwritten) return "";
    REQUIRE(job->status.gang.proposal);
    CHECK(job->status.gang.proposal->phase == model::ProposalPhase::kReserved);
    CHECK(job->status.gang.lastEpoch == job->status.gang.proposal->epoch);
    return job->status.gang.proposal->add.front().node.str();
  }
};

TEST_CASE("what this leader creates counts from the plan on") {
  Scene scene;
  scene.putJob("u1");
  CHECK(scene.place().empty());
  scene.make("n1");
  CHECK(scene.place() == "n1");
  const auto once = scene.seen();
  CHECK(scene.seen() == once);
  scene.putPod("p1", "u1", 1, "", "n1");
  CHECK(scene.place() == "n1");
}

TEST_CASE("a single-pod job is charged as admitted until its charge is written") {
  Scene scene;
  scene.putJob("u1");
  scene.make("n1", model::Charge{.queue = model::QueueName("poor"), .preemptible = true, .priority = 7});
  scene.putPod("p1", "u1", 1, "n1");
  scene.putJob("u1");  // edited
  const auto seen = scene.seen();
  REQUIRE(seen->status.gang.charge);
  CHECK(seen->status.gang.charge->queue.str() == "poor");
  CHECK(seen->status.gang.charge->preemptible);
  CHECK(scene.singles.unboundPods() == 0);
}

TEST_CASE("an unbound pod that this leader did not create does not count") {
  Scene scene;
  scene.putJob("u1");
  scene.putPod("p1", "u1", 1, "", "n1");
  CHECK(scene.place().empty());
}

TEST_CASE("a bound pod counts on its node for any creator") {
  Scene scene;
  scene.putPod("p1", "u1", 1, "n2");
  scene.putJob("u1");
  CHECK(scene.place() == "n2");
  scene.make("n1");
  CHECK(scene.place() == "n2");
}

TEST_CASE("a gang whose bound pod was deleted has lost its member and begins another attempt") {
  Scene scene;
  scene.putJob("u1");
  scene.make("n1");
  scene.putPod("p1", "u1", 1, "n1");
  CHECK(scene.place() == "n1");
  scene.dropPod("p1");
  const auto seen = scene.seen();
  CHECK(seen->recordUnwritten);
  CHECK(!seen->status.gang.proposal);
  REQUIRE(seen->status.gang.placed);
  CHECK(seen->status.gang.placed->epoch == 1);
  CHECK(seen->status.gang.lastEpoch == 1);
  CHECK(scene.seen() == seen);
}

TEST_CASE("a pod that only claims to be the job's does not hide the real one") {
  Scene scene;
  scene.putJob("u1");
  scene.putPod("p1", "u1", 1, "n1");
  scene.putPod("p2", "u1", 1, "n2", "", "forged");
  CHECK(scene.place() == "n1");
  scene.cache.pods.forget({"ml", "forged"}, "p2");
  CHECK(scene.place() == "n1");
}

TEST_CASE("a pod of a member that the job does not have is no record of it") {
  Scene scene;
  scene.putJob("u1");
  // Any client may write this, and no record that contains it could be read.
  scene.putPod("p1", "u1", 1, "n1", "", "solo-worker-100000", 0, 100'000);
  CHECK(scene.place().empty());
  scene.putPod("p2", "u1", 1, "n2");
  CHECK(scene.place() == "n2");
}

TEST_CASE("a bound pod that is found is charged to the queue that its namespace names") {
  Scene scene;
  scene.cache.namespaces.upsert(
      R"({"metadata":{"name":"ml","uid":"ns","resourceVersion":"1","labels":{"trainyard.dev/default-queue":"team"}}})");
  scene.putJob("u1");
  scene.putPod("p1", "u1", 1, "n1");
  const auto seen = scene.seen();
  REQUIRE(seen->status.gang.charge);
  CHECK(seen->status.gang.charge->queue.str() == "team");
}

TEST_CASE("a pod of another epoch or of another job of that name or of a larger gang is no record") {
  Scene scene;
  scene.putJob("u1");
  scene.putPod("p1", "u1", 2, "n1");
  CHECK(scene.place().empty());
  scene.putPod("p2", "u0", 1, "n1");
  CHECK(scene.place().empty());
  scene.putPod("p3", "u1", 1, "n1");
  CHECK(scene.place() == "n1");
  scene.putJob("u1", "{}", 2);
  CHECK(scene.place().empty());
}

TEST_CASE("a bound pod of the next epoch is retained while the job still shows the record before") {
  Scene scene;
  scene.putJob("u1",
               R"({"gang":{"lastEpoch":1,"placed":{"epoch":1,"assignments":[{"node":"n1","role":"worker",)"
               R"("indices":"0"}]}}})");
  scene.putPod("p2", "u1", 2, "n2");
  CHECK(scene.place().empty());
  scene.putJob("u1", R"({"gang":{"lastEpoch":1}})");
  CHECK(scene.place() == "n2");
}

TEST_CASE("a bound pod larger than its template is charged for what it holds") {
  Scene scene;
  scene.putJob("u1");
  scene.putPod("p1", "u1", 1, "n1");
  CHECK(scene.seen()->status.gang.charge->members.front().requests.gpus() == 0);
  scene.dropPod("p1");
  scene.putPod("p2", "u1", 1, "n1", "", "solo-worker-0", 8);
  const auto seen = scene.seen();
  REQUIRE(seen->status.gang.charge);
  CHECK(seen->status.gang.charge->members.front().requests.gpus() == 8);
}

TEST_CASE(
    "a bound pod that this leader did not make is no record of a queue that is closed to its namespace") {
  Scene scene;
  scene.putJob("u1");
  scene.putPod("p1", "u1", 1, "n1");
  auto closed = std::make_shared<model::Queue>();
  closed->name = model::QueueName("default");
  closed->namespaceSelector.requirements = {{"team", model::SelectorOperator::kIn, {"others"}}};
  const auto seen = [&] {
    model::Snapshot snapshot = scene.cache.snapshot({});
    snapshot.queues.edit() = {closed};
    scene.singles.overlay(snapshot);
    return snapshot.jobs.front();
  };
  CHECK_FALSE(seen()->recordUnwritten);
  scene.dropPod("p1");
  CHECK_FALSE(seen()->recordUnwritten);
  scene.make("n1");
  scene.putPod("p2", "u1", 1, "n1");
  CHECK(seen()->recordUnwritten);
}

TEST_CASE("the pod of a deleted job counts where it may be bound until that is known or the pod is deleted") {
  Scene scene;
  scene.putJob("u1");
  scene.make("n1");
  CHECK(scene.place() == "n1");
  const bool another = GENERATE(false, true);  // of the same name
  if (another) {
    scene.putJob("u2");
  } else {
    scene.cache.jobs.forget(kJob, "u1");
  }
  const auto shown = [&] {
    model::Snapshot snapshot = scene.cache.snapshot({});
    scene.singles.overlay(snapshot);
    return snapshot.pods.empty() ? nullptr : snapshot.pods.front();
  };
  CHECK(shown() == nullptr);  // the reply has not arrived yet
  scene.putPod("p1", "u1", 1, "", "n1");
  const auto once = shown();
  REQUIRE(once);
  CHECK(once->node.str() == "n1");
  CHECK(shown() == once);
  SECTION("of another owner") {
    scene.putPod("p2", "u3", 1, "", "n1");
    CHECK_FALSE(shown()->bound());
  }
  SECTION("bound") {
    scene.putPod("p1", "u1", 1, "n2");
    CHECK(shown()->node.str() == "n2");
  }
  SECTION("deleted") {
    scene.dropPod("p1");
    CHECK(shown() == nullptr);
    scene.putPod("p1", "u1", 1, "", "n1");
    CHECK_FALSE(shown()->bound());
  }
}

TEST_CASE("a written record ends the assumed one") {
  Scene scene;
  scene.putJob("u1");
  scene.make("n1");
  scene.putJob("u1",
               R"({"gang":{"lastEpoch":1,"placed":{"epoch":1,"assignments":[{"node":"n1","role":"worker",)"
               R"("indices":"0"}]}}})");
  CHECK(scene.place().empty());
  CHECK(scene.singles.made(kJob) == nullptr);
}

TEST_CASE("a job that has the name of a deleted one starts without its state") {
  Scene scene;
  scene.putJob("u1");
  scene.make("n1");
  scene.putJob("u2");
  CHECK(scene.place().empty());
  CHECK(scene.singles.made(kJob) == nullptr);
}

}  // namespace
}  // namespace trainyard::operator_
