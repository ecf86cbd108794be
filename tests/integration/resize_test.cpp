#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "lab.h"

// Gangs that are resized during faults: they have the old size or the new one, never neither, and no GPU is
// lost.
namespace trainyard::test {
namespace {

constexpr const char* kHelper = R"(,"checkpoint":{"mode":"Helper","gracePeriodSeconds":3})";

// 4 nodes of 8 GPUs.
struct Elastic {
  explicit Elastic(const std::string& more = kHelper, const std::string& leaveFor = "", int workers = 2,
                   const std::string& runFor = "", sim::ClusterOptions options = {})
      : lab(options, 4) {
    lab->operators().start();
    lab.submit("bert",
               {.workers = workers,
                .gpus = 4,
                .runFor = runFor,
                .leaveFor = leaveFor,
                .extra = fmt::format(
                    R"("elastic":{{"role":"worker","replicas":{},"minReplicas":1,"maxReplicas":8}}{})",
                    workers, more)});
    REQUIRE(lab.waitPhase("bert", "Running", 60s));
  }

  void scale(int replicas) {
    lab.patchJob("bert", fmt::format(R"({{"spec":{{"elastic":{{"replicas":{}}}}}}})", replicas));
  }
  [[nodiscard]] int size() const {
    const auto& placed = lab.job("bert")->status.gang.placed;
    if (!placed) return 0;
    std::size_t members = 0;
    for (const auto& each : placed->assignments) members += each.indices.size();
    return static_cast<int>(members);
  }
  // Waits until it has that size, and no other resize is in progress.
  bool waitSize(int replicas, base::Instant::duration limit = 120s) {
    const bool came = lab.until(
        [&] {
          const auto job = lab.job("bert");
          return !job->status.gang.proposal && size() == replicas && job->status.phase == "Running" &&
                 static_cast<int>(lab.podsOf("bert").size()) == replicas;
        },
        limit);
    INFO(lab.describe());
    CHECK(came);
    return came;
  }
  void waitResizing() {
    REQUIRE(lab.until([&] { return lab.phase("bert") == "Resizing"; }, 30s));
  }
  [[nodiscard]] std::string why() const {
    const auto* found = lab.job("bert")->condition("Resizing");
    return found == nullptr ? "" : found->reason + ": " + found->message;
  }
  void requireSound() {
    lab.requireSound();
    lab.requireTidy();
  }

  Lab lab;
};

}  // namespace

TEST_CASE("a gang grows and shrinks on request with and without the checkpoint helper") {
  const std::string way = GENERATE(as<std::string>{}, kHelper, "");
  CAPTURE(way);
  Elastic gang(way);
  const auto before = gang.lab.podsOf("bert");
  gang.scale(5);
  REQUIRE(gang.waitSize(5));
  for (const auto& pod : before) {
    const auto& pods = gang.lab->observer().cache().pods;
    CHECK(pods.find(pod->key)->uid == pod->uid);
  }
  CHECK(gang.lab.job("bert")->status.replicas == 5);
  CHECK(gang.why() == "Resized: it has 5 members of role worker, 2 before");
  gang.scale(1);
  REQUIRE(gang.waitSize(1));
  CHECK(gang.lab.job("bert")->status.resize.count == 2);
  CHECK(gang.lab.podsOf("bert").front()->uid == before.front()->uid);
  gang.requireSound();
}

TEST_CASE("a job that cannot resize while it runs restarts with its new size on its assigned nodes") {
  Lab lab({}, 4);
  lab->operators().start();
  const std::string job =
      R"({"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","metadata":{"name":"bert"},"spec":{"framework":"JAX",)"
      R"("roles":[{"name":"worker","replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"c",)"
      R"("resources":{"limits":{"nvidia.com/gpu":"4"}}}]}}}],)"
      R"("elastic":{"role":"worker","replicas":2,"minReplicas":1,"maxReplicas":8}}})";
  REQUIRE(lab->create(job));
  REQUIRE(lab.waitPhase("bert", "Running", 60s));
  const auto first = lab.job("bert")->status.gang.placed->assignments.front().node;
  lab.patchJob("bert", R"({"spec":{"elastic":{"replicas":4}}})");
  REQUIRE(lab.until([&] { return lab.phase("bert") == "Resizing"; }, 30s));
  CHECK(lab.job("bert")->status.resize.step == model::ResizeStep::kCheckpointing);
  REQUIRE(lab.until([&] { return lab.phase("bert") == "Running" && lab.boundPodsOf("bert") == 4; }, 120s));
  const auto& after = *lab.job("bert");
  CHECK(after.status.gang.placed->epoch == 2);
  CHECK(after.status.gang.placed->assignments.front().node == first);
  CHECK(after.status.resize.count == 1);
  CHECK(after.status.resize.lastPauseMillis.size() == 1);
  CHECK(after.status.preemptions.count == 0);
  CHECK(after.status.restarts.counted == 0);
  lab.requireSound();
  lab.requireTidy();
}

TEST_CASE("resize row 1: a leaving member that hangs is deleted when its grace ends") {
  Elastic gang(kHelper, "never", 3);
  gang.scale(1);
  gang.waitResizing();
  gang.lab.run(1s);
  CHECK(gang.lab.podsOf("bert").size() == 3);
  REQUIRE(gang.waitSize(1, 30s));
  gang.requireSound();
}

TEST_CASE("resize row 2: the next operator completes a resize whose operator is killed at any step") {
  for (int ms = 0; ms < 2'000; ms += 125) {
    const bool grows = ms % 250 == 0;
    CAPTURE(ms, grows);
    Elastic gang(kHelper, "500ms", 3);
    gang.scale(grows ? 5 : 1);
    gang.lab.run(std::chrono::milliseconds(ms));
    gang.lab->operators().kill(gang.lab->operators().numbers().front());
    gang.lab->operators().start();
    REQUIRE(gang.waitSize(grows ? 5 : 1));
    gang.requireSound();
  }
}

TEST_CASE("resize row 3: a gang whose new members cannot be bound keeps its size and tries again") {
  Elastic gang;
  gang.scale(4);
  gang.waitResizing();
  const std::string node = gang.lab.job("bert")->status.gang.proposal->add.front().node.str();
  const auto cordon = [&](bool on) {
    REQUIRE(gang.lab->request(net::Method::kPatch, "/api/v1/nodes/" + node,
                              fmt::format(R"({{"spec":{{"unschedulable":{}}}}})", on),
                              "application/merge-patch+json"));
  };
  cordon(true);
  REQUIRE(gang.lab.until([&] { return gang.why().starts_with("ResizeFailed: "); }, 30s));
  CHECK(gang.size() == 2);
  CHECK(gang.lab.boundPodsOf("bert") == 2);
  REQUIRE(gang.waitSize(4));
  gang.requireSound();
}

TEST_CASE("resize row 4: a node that is lost during the resize does not prevent the new size") {
  for (int ms = 0; ms < 1'200; ms += 150) {
    CAPTURE(ms);
    Elastic gang;
    gang.scale(4);
    gang.waitResizing();
    gang.lab.run(std::chrono::milliseconds(ms));
    const std::string node = gang.lab.job("bert")->status.gang.placed->assignments.front().node.str();
    REQUIRE(gang.lab->request(net::Method::kDelete, "/api/v1/nodes/" + node));
    REQUIRE(gang.waitSize(4, 300s));
    gang.requireSound();
  }
}

TEST_CASE("resize row 5: a job that ends during the resize leaves none of its new pods behind") {
  for (int ms = 0; ms < 2'000; ms += 250) {
    CAPTURE(ms);
    Elastic gang(kHelper, "500ms", 3, "4s");
    gang.lab.run(2s + std::chrono::milliseconds(ms));
    gang.scale(ms % 500 == 0 ? 6 : 1);
    REQUIRE(gang.lab.waitPhase("bert", "Succeeded", 120s));
    gang.lab.run(10s);
    CHECK_FALSE(gang.lab.job("bert")->status.gang.proposal);
    gang.requireSound();
  }
}

TEST_CASE("resize row 6: a job that is scaled again during the resize gets the last size") {
  for (int ms = 0; ms < 1'600; ms += 200) {
    CAPTURE(ms);
    Elastic gang(kHelper, "300ms", 3);
    gang.scale(6);
    gang.lab.run(std::chrono::milliseconds(ms));
    gang.scale(1);
    gang.lab.run(std::chrono::milliseconds(ms));
    gang.scale(4);
    REQUIRE(gang.waitSize(4));
    gang.requireSound();
  }
}

TEST_CASE("resize row 7: two jobs that request the same last GPUs share them and report what is missing") {
  Elastic gang;
  gang.lab.submit("gpt",
                  {.workers = 2,
                   .gpus = 4,
                   .runFor = "",
                   .extra = R"("elastic":{"role":"worker","replicas":2,"minReplicas":1,"maxReplicas":8})"});
  REQUIRE(gang.lab.waitPhase("gpt", "Running", 60s));
  gang.scale(6);
  gang.lab.patchJob("gpt", R"({"spec":{"elastic":{"replicas":6}}})");
  gang.lab.run(20s);
  CHECK(gang.lab.boundPodsOf("bert") + gang.lab.boundPodsOf("gpt") == 8);
  CHECK(gang.lab.boundPodsOf("bert") >= 2);
  CHECK(gang.lab.boundPodsOf("gpt") >= 2);
  const auto waits = [&](const std::string& name) {
    const auto* found = gang.lab.job(name)->condition("Resizing");
    return found != nullptr && found->reason == "Waiting";
  };
  CHECK((waits("bert") || waits("gpt")));
  gang.requireSound();
}

TEST_CASE("resize row 8: a gang receives what another one gives up and no node is overcommitted") {
  Elastic gang(kHelper, "1500ms", 6);
  gang.lab.submit("gpt",
                  {.workers = 2,
                   .gpus = 4,
                   .runFor = "",
                   .extra = R"("elastic":{"role":"worker","replicas":2,"minReplicas":1,"maxReplicas":8})"});
  REQUIRE(gang.lab.waitPhase("gpt", "Running", 60s));
  gang.lab.patchJob("gpt", R"({"spec":{"elastic":{"replicas":6}}})");
  gang.scale(2);
  REQUIRE(gang.waitSize(2));
  REQUIRE(gang.lab.until(
      [&] { return !gang.lab.job("gpt")->status.gang.proposal && gang.lab.boundPodsOf("gpt") == 6; }, 60s));
  gang.requireSound();
}

namespace {

// Every second write of the operator meets a conflict.
class ConflictStorm final : public sim::FaultPlan {
 public:
  sim::RequestFault beforeRequest(const sim::FaultPoint& point) override {
    const bool writes = point.request->method == net::Method::kPatch &&
                        point.request->target.find("/leases") == std::string::npos;
    if (!blows || !writes || ++writes_ % 2 == 0) return {};
    return {.kind = sim::RequestFault::Kind::kAnswer, .answer = sim::refusal(409)};
  }
  bool blows = false;

 private:
  int writes_ = 0;
};

}  // namespace

TEST_CASE("resize row 9: a storm of conflicts only delays the resize") {
  ConflictStorm storm;
  Elastic gang(kHelper, "300ms", 2, "", {.operatorFaults = &storm});
  storm.blows = true;
  gang.scale(5);
  REQUIRE(gang.waitSize(5, 300s));
  gang.scale(2);
  REQUIRE(gang.waitSize(2, 300s));
  gang.requireSound();
}

TEST_CASE("resize row 10: a job can be suspended and resumed and deleted during the resize") {
  for (int ms = 0; ms < 1'600; ms += 200) {
    CAPTURE(ms);
    Elastic gang(kHelper, "700ms", 3);
    gang.scale(ms % 400 == 0 ? 5 : 2);
    gang.lab.run(std::chrono::milliseconds(ms));
    gang.lab.patchJob("bert", R"({"spec":{"run":{"suspend":true}}})");
    REQUIRE(gang.lab.waitPhase("bert", "Suspended", 120s));
    CHECK(gang.lab.podsOf("bert").empty());
    gang.lab.patchJob("bert", R"({"spec":{"run":{"suspend":false}}})");
    REQUIRE(gang.waitSize(ms % 400 == 0 ? 5 : 2));
    gang.scale(4);
    gang.lab.run(std::chrono::milliseconds(ms));
    gang.lab.deleteJob("bert");
    REQUIRE(gang.lab.waitGone("bert"));
    gang.requireSound();
  }
}

TEST_CASE("a gang that requests more than fits gets what is free and later the rest") {
  Elastic gang;
  gang.lab.submit("other", {.workers = 2, .gpus = 8, .runFor = "20s"});
  REQUIRE(gang.lab.waitPhase("other", "Running", 60s));
  gang.scale(8);
  REQUIRE(gang.lab.until([&] { return gang.size() == 4 && gang.why().starts_with("Waiting: "); }, 60s));
  CHECK(gang.why() == "Waiting: 8 are requested, it has 4: no more can start now");
  REQUIRE(gang.waitSize(8));
  gang.requireSound();
}

TEST_CASE("a gang does not grow onto capacity that is reserved for a pending job") {
  Elastic gang;
  gang.lab.submit("large", {.workers = 4, .gpus = 8, .runFor = "2s"});
  REQUIRE(gang.lab.until([&] { return gang.lab.job("large")->status.pending.has_value(); }, 30s));
  gang.scale(4);
  gang.lab.run(10s);
  CHECK(gang.size() == 2);
  CHECK(gang.why() ==
        "Waiting: 4 are requested, it has 2: the free capacity is reserved for default/large, which is "
        "pending");
  gang.lab.deleteJob("large");
  REQUIRE(gang.waitSize(4));
  gang.requireSound();
}

}  // namespace trainyard::test
