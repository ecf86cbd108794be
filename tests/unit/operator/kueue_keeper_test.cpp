#include "operator/kueue_keeper.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/rng.h"
#include "base/silent_log.h"
#include "base/virtual_loop.h"
#include "codec/kueue_workload.h"
#include "support/fake_api.h"

namespace trainyard::operator_ {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kAdmitted =
    R"({"type":"QuotaReserved","status":"True"},{"type":"Admitted","status":"True"})";
constexpr std::string_view kEvicted =
    R"(,{"type":"Evicted","status":"True","reason":"Deactivated","message":"by the admin"})";
constexpr std::string_view kPath = "/apis/kueue.x-k8s.io/v1beta2/namespaces/ml/workloads";

// An API server that serves Workloads, or not, and answers writes with what the test says.
class Server final : public test::FakeApi {
 public:
  using test::FakeApi::FakeApi;

  bool servesKueue = true;
  std::string answerToWrites = "{}";
  std::vector<std::string> writes;  // "PATCH trainingjob-bert-uid/status"
  std::string body;                 // of the last write

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) override {
    if (!servesKueue) return base::fail(base::ErrorCode::kNotFound, "the server could not find the resource");
    if (request.method == net::Method::kGet && request.path.ends_with("/workloads"))
      return kube::ApiResponse{200, R"({"metadata":{"resourceVersion":"1"},"items":[]})"};
    if (request.method == net::Method::kGet)
      return kube::ApiResponse{200, R"({"metadata":{"name":"p"},"value":9})"};
    const std::string_view name =
        request.method == net::Method::kPost ? "" : std::string_view(request.path).substr(kPath.size() + 1);
    writes.push_back(fmt::format("{} {}", net::toString(request.method), name));
    body = request.body;
    return kube::ApiResponse{200, answerToWrites};
  }
};

class Events final : public JobEvents {
 public:
  std::vector<std::string> notes;

  void record(const model::Job&, const core::JobEvent& event) override { notes.push_back(event.note); }
  void recordOn(const codec::ObjectRef&, const core::JobEvent&) override {}
};

struct Fixture {
  base::VirtualLoop loop;
  Server api{loop};
  base::SilentSink nowhere;
  base::Logger log{nowhere, base::LogLevel::kError, "kueue"};
  base::Rng rng{1};
  kube::ClusterCache cache{log};
  KueueWorkloads workloads{cache, log};
  Events events;
  KueueKeeper keeper{{api, loop, cache, workloads, events, log, [] { return true; }}};
  int version = 1;

  void start() {
    workloads.start(api, loop, rng);
    loop.runFor(1s);
    keeper.start();
    loop.runFor(1s);
  }
  void job(std::string_view spec = "", std::string_view status = "{}", int replicas = 2,
           std::string_view labels = R"("kueue.x-k8s.io/queue-name":"research")") {
    ++version;
    cache.jobs.upsert(fmt::format(
        R"({{"metadata":{{"namespace":"ml","name":"bert","uid":"uid","resourceVersion":"{}","generation":1,"labels":{{{}}}}},)"
        R"("spec":{{"framework":"Custom",{}"roles":[{{"name":"worker","replicas":{},"template":{{"spec":{{"containers":[{{"name":"c",)"
        R"("image":"i","resources":{{"limits":{{"nvidia.com/gpu":8}}}}}}]}}}}}}]}},"status":{}}})",
        version, labels, spec, replicas, status));
    loop.runFor(1s);
  }
  // The job's Workload of this size, with these conditions.
  [[nodiscard]] std::string workloadText(std::string_view conditions, std::string_view owner = "uid",
                                         int count = 2) {
    ++version;
    return fmt::format(
        R"({{"metadata":{{"namespace":"ml","name":"trainingjob-bert-uid","uid":"w","resourceVersion":"{}","labels":)"
        R"({{"trainyard.dev/job-name":"bert"}},"ownerReferences":[{{"uid":"{}","controller":{}}}]}},"spec":)"
        R"({{"queueName":"research","podSets":[{{"name":"worker","count":{},"template":{{"spec":{{"containers":)"
        R"([{{"name":"c","resources":{{"limits":{{"nvidia.com/gpu":8}}}}}}]}}}}}}]}},"status":{{"conditions":[{}]}}}})",
        version, owner, owner.empty() ? "false" : "true", count, conditions);
  }
  void workload(std::string_view conditions, std::string_view owner = "uid", int count = 2) {
    workloads.workloads().upsert(workloadText(conditions, owner, count));
    loop.runFor(1s);
  }
  [[nodiscard]] std::shared_ptr<const model::Job> shown() {
    model::Snapshot snapshot = cache.snapshot(loop.wallNow());
    workloads.overlay(snapshot);
    return snapshot.jobs.front();
  }
};

constexpr std::string_view kPlaced =
    R"({"gang":{"epoch":1,"placed":{"epoch":1,"assignments":[{"role":"worker","node":"n0","indices":"0-1"}]}}})";

TEST_CASE("Kueue: a job is held, and its Workload is created once") {
  Fixture fixture;
  fixture.job();
  CHECK(fixture.shown()->heldByKueue == "the API server serves no Workloads: is Kueue installed?");
  CHECK(fixture.shown()->spec.run.suspend);
  fixture.api.answerToWrites = fixture.workloadText("");
  fixture.start();
  CHECK(fixture.api.writes == std::vector<std::string>{"POST "});
  CHECK(fixture.shown()->heldByKueue == "waits in Kueue's LocalQueue research");
  const auto before = fixture.shown();
  CHECK(fixture.shown() == before);  // the same object, so that cycles reuse what they know of it
  fixture.workload(kAdmitted);
  CHECK(fixture.shown()->heldByKueue.empty());
  CHECK(!fixture.shown()->spec.run.suspend);
  CHECK(fixture.api.writes.size() == 1);
}

TEST_CASE("Kueue: without its CRDs a running job goes on, and they are looked for") {
  Fixture fixture;
  fixture.api.servesKueue = false;
  fixture.job("", kPlaced);
  fixture.start();
  CHECK(fixture.shown()->heldByKueue.empty());
  CHECK(fixture.api.writes.empty());
  fixture.api.servesKueue = true;
  fixture.api.answerToWrites = fixture.workloadText("");
  fixture.job();
  fixture.loop.runFor(30s);
  CHECK(fixture.api.writes == std::vector<std::string>{"POST "});
}

TEST_CASE("Kueue: jobs of other controllers, and jobs without a label, are left alone") {
  Fixture fixture;
  fixture.start();
  fixture.job(R"("managedBy":"example.com/other",)");
  fixture.job("", "{}", 2, "");
  fixture.job(R"("run":{"suspend":true},)");
  CHECK(fixture.shown()->heldByKueue.empty());
  CHECK(fixture.api.writes.empty());
}

TEST_CASE("Kueue: the Workload of a job of MultiKueue is created, and its quota given back at once") {
  Fixture fixture;
  fixture.start();
  fixture.api.answerToWrites = fixture.workloadText("");
  fixture.job(R"("managedBy":"kueue.x-k8s.io/multikueue",)", kPlaced);
  CHECK(fixture.api.writes == std::vector<std::string>{"POST "});
  CHECK(fixture.shown()->heldByKueue.empty());
  fixture.workload(fmt::format("{}{}", kAdmitted, kEvicted));
  CHECK(fixture.api.writes.back() == "PATCH trainingjob-bert-uid/status");
}

TEST_CASE("Kueue: an evicted job gives its quota back when its nodes are free") {
  Fixture fixture;
  fixture.job("", kPlaced);
  fixture.workload(kAdmitted);
  fixture.start();
  fixture.workload(fmt::format("{}{}", kAdmitted, kEvicted));
  CHECK(fixture.shown()->heldByKueue == "Kueue evicted it: by the admin");
  CHECK(fixture.api.writes.empty());
  fixture.api.answerToWrites =
      fixture.workloadText(R"({"type":"QuotaReserved","status":"False"},{"type":"Evicted","status":"True"})");
  fixture.job();
  CHECK(fixture.api.writes == std::vector<std::string>{"PATCH trainingjob-bert-uid/status"});
  CHECK(fixture.api.body.find(R"("type":"QuotaReserved","status":"False","reason":"Pending")") !=
        std::string::npos);
  CHECK(fixture.api.body.find(R"("type":"Admitted","status":"False")") != std::string::npos);
  CHECK(fixture.api.body.find(R"("type":"Requeued","status":"False","reason":"Deactivated")") !=
        std::string::npos);
  CHECK(fixture.api.body.ends_with(R"("admission":null}})"));
}

TEST_CASE("Kueue: the end of the job ends its Workload") {
  Fixture fixture;
  fixture.start();
  fixture.workload(kAdmitted);
  fixture.api.answerToWrites = fixture.workloadText(R"({"type":"Finished","status":"True"})");
  fixture.job("",
              R"({"conditions":[{"type":"Failed","status":"True","reason":"r","message":"exit code 1"}]})");
  CHECK(fixture.api.writes == std::vector<std::string>{"PATCH trainingjob-bert-uid/status"});
  CHECK(fixture.api.body.find(
            R"("type":"Finished","status":"True","reason":"Failed","message":"exit code 1")") !=
        std::string::npos);
}

TEST_CASE("Kueue: the Workload of a deleted job is deleted") {
  Fixture fixture;
  fixture.start();
  fixture.workload(kAdmitted);
  fixture.job();
  CHECK(fixture.api.writes.empty());
  fixture.cache.jobs.forget({"ml", "bert"}, "uid");
  fixture.loop.runFor(1s);
  CHECK(fixture.api.writes == std::vector<std::string>{"DELETE trainingjob-bert-uid"});
}

TEST_CASE("Kueue: a Workload that MultiKueue created before the job becomes the job's") {
  Fixture fixture;
  fixture.start();
  fixture.workload(kAdmitted, "");
  fixture.api.answerToWrites = fixture.workloadText(kAdmitted);
  fixture.job(
      "", "{}", 2,
      R"("kueue.x-k8s.io/queue-name":"far","kueue.x-k8s.io/prebuilt-workload-name":"trainingjob-bert-uid")");
  CHECK(fixture.api.writes == std::vector<std::string>{"PATCH trainingjob-bert-uid"});
  CHECK(fixture.shown()->heldByKueue.empty());
}

TEST_CASE("Kueue: a job that no longer fits its Workload, or is suspended, gets another") {
  Fixture fixture;
  fixture.start();
  fixture.workload(kAdmitted);
  SECTION("another size") { fixture.job("", kPlaced, 3); }
  SECTION("another queue") { fixture.job("", kPlaced, 2, R"("kueue.x-k8s.io/queue-name":"other")"); }
  SECTION("suspended") { fixture.job(R"("run":{"suspend":true},)"); }
  REQUIRE(!fixture.api.writes.empty());
  CHECK(fixture.api.writes.front() == "DELETE trainingjob-bert-uid");
}

TEST_CASE("Kueue: the priority is that of the WorkloadPriorityClass") {
  Fixture fixture;
  fixture.start();
  fixture.job("", "{}", 2, R"("kueue.x-k8s.io/queue-name":"q","kueue.x-k8s.io/priority-class":"p")");
  CHECK(
      fixture.api.body.find(
          R"("priority":9,"priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"p"})") !=
      std::string::npos);
}

TEST_CASE("Kueue: the job reports why its Workload is refused") {
  Fixture fixture;
  fixture.start();
  fixture.api.fault = [](const kube::ApiRequest& request) -> std::optional<base::Error> {
    if (request.method != net::Method::kPost) return std::nullopt;
    return base::Error{base::ErrorCode::kInvalid, "spec.podSets: too many"};
  };
  fixture.job();
  CHECK(fixture.events.notes == std::vector<std::string>{"spec.podSets: too many"});
}

}  // namespace
}  // namespace trainyard::operator_
