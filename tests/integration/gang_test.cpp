#include <set>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codec/pod.h"
#include "lab.h"

namespace trainyard::test {
namespace {

constexpr const char* kPods = "/api/v1/namespaces/default/pods";

}  // namespace

TEST_CASE("a gang of four whole nodes starts together in one rack and ends") {
  Lab lab;
  lab->operators().start();
  lab.submit("first");

  REQUIRE(lab.waitPhase("first", "Running", 30s));
  CHECK(lab.boundPodsOf("first") == 4);
  CHECK(lab.exists("/api/v1/namespaces/default/services/first"));
  REQUIRE(lab.waitPhase("first", "Succeeded", 30s));
  lab.run(5s);
  lab.requireSound();
  lab.requireTidy();
}

TEST_CASE("a single-pod job needs neither gate nor Service") {
  Lab lab;
  lab->operators().start();
  lab.submit("one", {.workers = 1, .gpus = 1});

  REQUIRE(lab.waitPhase("one", "Succeeded", 60s));
  CHECK_FALSE(lab.exists("/api/v1/namespaces/default/services/one"));
  lab.requireSound();
  lab.requireTidy();
}

TEST_CASE("a failed member fails the job and the other members are deleted") {
  Lab lab;
  lab->operators().start();
  lab.submit("bad", {.runFor = "2s", .exitCode = 1, .extra = R"("failure":{"maxRestarts":0})"});

  REQUIRE(lab.waitPhase("bad", "Failed", 60s));
  lab.run(5s);
  lab.requireSound();
  lab.requireTidy();
}

TEST_CASE("a gang that does not fit is pending without pods and reports what is missing") {
  Lab lab;
  lab->operators().start();
  lab.submit("big", {.workers = 7});

  lab.run(20s);
  CHECK(lab.podsOf("big").empty());
  REQUIRE(lab.job("big")->status.pending);
  CHECK(lab.job("big")->status.pending->message != "");
  lab.requireSound();
}

TEST_CASE("two gangs that fit only one at a time run one after the other in every order of events") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    base::Rng rng(seed);
    Lab lab({.seed = seed});
    lab->operators().start();
    lab.run(std::chrono::milliseconds(rng.between(0, 3'000)));
    lab.submit("one", {.runFor = "2s"});
    lab.run(std::chrono::milliseconds(rng.between(0, 600)));
    lab.submit("two", {.runFor = "2s"});

    bool both = false;
    const bool ended = lab.until(
        [&] {
          both = both || (lab.boundPodsOf("one") > 0 && lab.boundPodsOf("two") > 0 &&
                          lab.phase("one") == "Running" && lab.phase("two") == "Running");
          return lab.phase("one") == "Succeeded" && lab.phase("two") == "Succeeded";
        },
        120s);
    INFO(lab.describe());
    REQUIRE(ended);
    CHECK_FALSE(both);
    lab.run(5s);
    lab.requireSound();
    lab.requireTidy();
  }
}

TEST_CASE("a job that is deleted at any moment leaves nothing behind") {
  // A job of two members takes a few seconds of virtual time from its first write to its end.
  for (int ms = 0; ms <= 4'000; ms += 100) {
    CAPTURE(ms);
    Lab lab;
    lab->operators().start();
    lab.run(3s);
    lab.submit("gone", {.workers = 3, .runFor = "2s"});
    lab.run(std::chrono::milliseconds(ms));
    lab.deleteJob("gone");

    const bool gone = lab.waitGone("gone", 60s);
    INFO(lab.describe());
    REQUIRE(gone);
    lab.run(5s);
    CHECK_FALSE(lab.exists("/api/v1/namespaces/default/services/gone"));
    lab.requireSound();
    lab.requireTidy();
  }
}

TEST_CASE("a job deleted and created again under its name starts again") {
  Lab lab;
  lab->operators().start();
  lab.submit("again", {.runFor = ""});
  REQUIRE(lab.waitPhase("again", "Running", 30s));
  const auto uid = lab.job("again")->uid;
  lab.deleteJob("again");
  REQUIRE(lab.waitGone("again", 30s));
  lab.submit("again", {.runFor = "1s"});
  REQUIRE(lab.job("again")->uid != uid);

  REQUIRE(lab.waitPhase("again", "Succeeded", 60s));
  lab.requireSound();
  lab.requireTidy();
}

TEST_CASE("a gang reaches its end although a node vanishes during its start") {
  for (int ms = 0; ms <= 300; ms += 20) {
    CAPTURE(ms);
    Lab lab;
    lab->operators().start();
    lab.run(3s);
    lab.submit("moved", {.runFor = "2s"});
    REQUIRE(lab.until([&] { return lab.job("moved")->status.gang.proposal.has_value(); }, 30s));
    const std::string node = lab.job("moved")->status.gang.proposal->add.front().node.str();
    lab.run(std::chrono::milliseconds(ms));
    REQUIRE(lab->request(net::Method::kDelete, "/api/v1/nodes/" + node));

    // If the members were bound already, the loss of the node fails the job or restarts it.
    const bool ended =
        lab.until([&] { return lab.phase("moved") == "Succeeded" || lab.phase("moved") == "Failed"; }, 240s);
    INFO(lab.describe());
    REQUIRE(ended);
    lab.run(60s);
    lab.requireSound();
    lab.requireTidy();
  }
}

TEST_CASE("a spec that is edited between reservation and creation is planned again") {
  Lab lab;
  lab->operators().start();
  lab.run(3s);
  lab.submit("edited", {.workers = 3, .runFor = "2s"});
  REQUIRE(lab.until([&] { return lab.job("edited")->status.gang.proposal.has_value(); }, 30s));
  REQUIRE(lab.podsOf("edited").empty());
  lab.patchJob(
      "edited",
      R"({"spec":{"roles":[{"name":"worker","replicas":2,"template":{"metadata":{"annotations":{"sim.trainyard.dev/run-for":"1s"}},"spec":{"containers":[{"name":"train","image":"train:2","resources":{"limits":{"nvidia.com/gpu":"4"}}}]}}}]}})");

  const bool ended = lab.waitPhase("edited", "Succeeded", 120s);
  INFO(lab.describe());
  REQUIRE(ended);
  CHECK(lab.podsOf("edited").size() == 2);
  lab.requireSound();
  lab.requireTidy();
}

TEST_CASE("a member name that a foreign pod has is reported and the job starts once the name is free") {
  Lab lab;
  lab->operators().start();
  REQUIRE(lab.foreignPod("taken-worker-1", 0));
  lab.run(3s);
  lab.submit("taken", {.workers = 2, .runFor = "2s"});
  REQUIRE(lab.until(
      [&] {
        const auto& backoff = lab.job("taken")->status.gang.backoff;
        return backoff && backoff->reason.find("NameTaken") != std::string::npos;
      },
      60s));
  CHECK(lab.exists(fmt::format("{}/taken-worker-1", kPods)));
  lab.deletePod("taken-worker-1");

  REQUIRE(lab.waitPhase("taken", "Succeeded", 240s));
  lab.requireSound();
  lab.requireTidy();
}

namespace {

// Refuses the first deletion of a pod with a false conflict: the pod stays.
class RefusedDelete final : public sim::FaultPlan {
 public:
  sim::RequestFault beforeRequest(const sim::FaultPoint& point) override {
    if (hits > 0 || point.request->method != net::Method::kDelete) return {};
    ++hits;
    return {.kind = sim::RequestFault::Kind::kAnswer, .answer = sim::refusal(409)};
  }

  int hits = 0;
};

}  // namespace

TEST_CASE("a deletion that is refused by a conflict does not count as done") {
  RefusedDelete fault;
  Lab lab({.operatorFaults = &fault});
  lab->operators().start();
  lab.run(3s);
  lab.submit("refused", {.runFor = ""});
  REQUIRE(lab.waitPhase("refused", "Running"));
  lab.deletePod("refused-worker-0");

  const bool byRestart = lab.until(
      [&] {
        const auto& placed = lab.job("refused")->status.gang.placed;
        return placed && placed->epoch > 1 && lab.phase("refused") == "Running";
      },
      60s);
  INFO(lab.describe());
  CHECK(byRestart);
  CHECK(fault.hits == 1);
  lab.requireSound();
}

namespace {

// Edits a label of the job whenever the operator's write to it is in flight, except every sixth time.
class Pesterer : public sim::FaultPlan {
 public:
  sim::RequestFault beforeRequest(const sim::FaultPoint& point) override {
    if (lab == nullptr || point.request->method != net::Method::kPatch) return {};
    if (point.request->target.find("/trainingjobs/pestered") == std::string::npos) return {};
    if (++writes % 6 == 0) return {};
    lab->patchJob("pestered", fmt::format(R"({{"metadata":{{"labels":{{"count":"{}"}}}}}})", writes));
    return {};
  }
  Lab* lab = nullptr;
  int writes = 0;
};

}  // namespace

TEST_CASE("continual edits of a job's labels do not delay the job") {
  Pesterer pesterer;
  Lab lab({.operatorFaults = &pesterer});
  lab->operators().start();
  lab.run(3s);
  pesterer.lab = &lab;
  lab.submit("pestered", {.runFor = "1s"});
  CHECK(lab.waitPhase("pestered", "Succeeded", 6s));
  INFO(lab.describe());
  CHECK(pesterer.writes >= 12);
  lab.requireSound();
}

namespace {

std::string limitRange(const std::string& cpu) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"LimitRange","metadata":{{"name":"big"}},"spec":{{"limits":[{{"type":"Container","defaultRequest":{{"cpu":"{0}"}},"default":{{"cpu":"{0}"}}}}]}}}})",
      cpu);
}

// Three workers that request a GPU each and no cpu: by the template, all of them fit one node.
std::string silentAboutCpu(const std::string& name) {
  return fmt::format(
      R"({{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","metadata":{{"name":"{}"}},"spec":{{"framework":"PyTorch","roles":[{{"name":"worker","replicas":3,"template":{{"metadata":{{"annotations":{{"sim.trainyard.dev/run-for":"2s"}}}},"spec":{{"containers":[{{"name":"train","image":"a","resources":{{"limits":{{"nvidia.com/gpu":"1"}}}}}}]}}}}}}]}}}})",
      name);
}

// The number of aborted attempts before the job succeeded; nullopt if it does not succeed.
std::optional<int> abortedBeforeSuccess(Lab& lab, const std::string& name) {
  int aborted = 0;
  const bool succeeded = lab.until([&] {
    const auto& backoff = lab.job(name)->status.gang.backoff;
    if (backoff) aborted = std::max(aborted, backoff->count);
    return lab.phase(name) == "Succeeded";
  });
  INFO(lab.describe());
  CHECK(succeeded);
  return succeeded ? std::optional(aborted) : std::nullopt;
}

}  // namespace

TEST_CASE("released pods still carry the node constraints of their template") {
  Lab lab;
  lab->operators().start();
  lab.run(3s);
  for (const char* node : {"n0001", "n0002", "n0003", "n0004", "n0005"}) {
    REQUIRE(lab->request(net::Method::kPatch, fmt::format("/api/v1/nodes/{}", node),
                         R"({"metadata":{"labels":{"disk":"ssd"}},
                             "spec":{"taints":[{"key":"dedicated","value":"train","effect":"NoSchedule"}]}})",
                         "application/merge-patch+json"));
  }
  REQUIRE(
      lab->create(R"({"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","metadata":{"name":"picky"},
    "spec":{"framework":"PyTorch","roles":[{"name":"worker","replicas":4,"template":{"spec":{
      "nodeSelector":{"disk":"ssd"},
      "tolerations":[{"key":"dedicated","value":"train","effect":"NoSchedule"}],
      "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"kubernetes.io/hostname","operator":"NotIn","values":["n0001"]}]}]}}},
      "containers":[{"name":"c","image":"train","resources":{"limits":{"nvidia.com/gpu":8}}}]}}}]}})"));
  INFO(lab.describe());
  REQUIRE(lab.waitPhase("picky", "Running", 60s));
  CHECK(lab.job("picky")->status.gang.lastEpoch == 1);
  std::set<std::string> nodes;
  for (const auto& pod : lab.podsOf("picky")) {
    nodes.insert(pod->node.str());
    const auto text = lab->request(net::Method::kGet, fmt::format("{}/{}", kPods, pod->key.name));
    REQUIRE(text);
    const auto read = codec::decodePodToSchedule(*text);
    REQUIRE(read);
    REQUIRE(read->shape.affinity);
    CHECK(read->shape.affinity->front().labels.front().values == std::vector<std::string>{"n0001"});
    CHECK(read->pinned == pod->node);
  }
  CHECK(nodes == std::set<std::string>{"n0002", "n0003", "n0004", "n0005"});
  lab.requireSound();
}

TEST_CASE("pods are planned as large as a LimitRange makes them") {
  Lab lab;
  lab->operators().start();
  lab.run(3s);
  REQUIRE(lab->create(limitRange("60")));
  REQUIRE(lab->create(silentAboutCpu("grown")));

  CHECK(abortedBeforeSuccess(lab, "grown") == 0);
  lab.requireSound();
  lab.requireTidy();
}

TEST_CASE("pods that a LimitRange makes too large for every node stay pending and the resource is named") {
  Lab lab;
  lab->operators().start();
  lab.run(3s);
  REQUIRE(lab->create(limitRange("5000")));
  REQUIRE(lab->create(silentAboutCpu("grown")));

  REQUIRE(lab.waitPhase("grown", "Queued", 30s));
  lab.run(30s);
  INFO(lab.describe());
  const auto job = lab.job("grown");
  REQUIRE(job->status.pending);
  CHECK(job->status.pending->message.find("cpu") != std::string::npos);
  CHECK(job->status.gang.lastEpoch == 0);
  CHECK(lab.podsOf("grown").empty());
  lab.requireSound();
}

TEST_CASE("a job whose template a LimitRange makes invalid runs once the LimitRange is deleted") {
  Lab lab;
  lab->operators().start();
  lab.run(3s);
  REQUIRE(lab->create(
      R"({"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"small"},
      "spec":{"limits":[{"type":"Container","default":{"cpu":"1"}}]}})"));
  REQUIRE(lab->create(
      R"({"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","metadata":{"name":"asks"},
      "spec":{"framework":"PyTorch","roles":[{"name":"worker","replicas":2,"template":{"spec":{
        "containers":[{"name":"c","image":"x","resources":{"requests":{"cpu":"8"},
          "limits":{"nvidia.com/gpu":"8"}}}]}}}]}})"));
  REQUIRE(lab.until([&] {
    return lab.job("asks")->conditionTrue("Admitted") == false && lab.job("asks")->status.pending;
  }));
  CHECK(lab.job("asks")->status.pending->reason == model::PendingReason::kInvalidTemplate);
  lab.run(60s);
  CHECK(lab.podsOf("asks").empty());
  REQUIRE(lab->request(net::Method::kDelete, "/api/v1/namespaces/default/limitranges/small"));
  CHECK(lab.waitPhase("asks", "Running", 40s));
  lab.requireSound();
}

TEST_CASE("a gang names the PersistentVolumeClaim that it waits for and then starts where its volume is") {
  Lab lab;
  lab->operators().start();
  REQUIRE(lab->create(
      R"({"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","metadata":{"name":"reads"},
      "spec":{"framework":"PyTorch","roles":[{"name":"worker","replicas":2,"template":{"spec":{
        "volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data"}}],
        "containers":[{"name":"c","image":"x","resources":{"limits":{"nvidia.com/gpu":"8"}}}]}}}]}})"));
  const auto reports = [&](std::string_view words) {
    return lab.until(
        [&] {
          const auto job = lab.job("reads");
          return job && job->status.pending && job->status.pending->message.find(words) != std::string::npos;
        },
        30s);
  };
  REQUIRE(reports("PersistentVolumeClaim data does not exist"));
  REQUIRE(lab->request(net::Method::kPost, "/api/v1/persistentvolumes",
                       R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pv"},"spec":{
    "nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchFields":[
      {"key":"metadata.name","operator":"In","values":["n0003"]}]},{"matchFields":[
      {"key":"metadata.name","operator":"In","values":["n0005"]}]}]}}}})"));
  REQUIRE(lab->request(net::Method::kPost, "/api/v1/namespaces/default/persistentvolumeclaims",
                       R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},
    "spec":{"volumeName":"pv"}})"));
  REQUIRE(reports("PersistentVolumeClaim data is not bound to its volume pv yet"));
  REQUIRE(lab->request(net::Method::kPatch, "/api/v1/namespaces/default/persistentvolumeclaims/data/status",
                       R"({"status":{"phase":"Bound"}})", "application/merge-patch+json"));
  REQUIRE(lab.waitPhase("reads", "Running", 30s));
  std::set<std::string> nodes;
  for (const auto& pod : lab.podsOf("reads")) nodes.insert(pod->node.str());
  CHECK(nodes == std::set<std::string>{"n0003", "n0005"});
  CHECK_FALSE(lab.job("reads")->status.gang.backoff);
  lab.requireSound();
}

TEST_CASE("a LimitRange created after the template was checked costs one attempt") {
  Lab lab;
  lab->operators().start();
  lab.run(3s);
  lab.submit("first", {.workers = 6, .runFor = "20s"});
  REQUIRE(lab.waitPhase("first", "Running", 30s));
  REQUIRE(lab->create(silentAboutCpu("grown")));
  REQUIRE(lab.waitPhase("grown", "Queued", 30s));
  REQUIRE(lab->create(limitRange("60")));

  CHECK(abortedBeforeSuccess(lab, "grown") == 1);
  lab.requireSound();
  lab.requireTidy();
}

}  // namespace trainyard::test
