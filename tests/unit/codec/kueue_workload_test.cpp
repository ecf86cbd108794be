#include "codec/kueue_workload.h"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codec/job.h"

namespace trainyard::codec {
namespace {

model::Job job(std::string_view labels = R"("kueue.x-k8s.io/queue-name":"research")",
               std::string_view more = "") {
  auto decoded =
      decodeJob(
          fmt::format(
              R"({{"metadata":{{"namespace":"ml","name":"bert","uid":"0123456789","labels":{{{}}}}},)"
              R"("spec":{{"framework":"Custom","roles":[{{"name":"ps","replicas":1,"template":{{"spec":{{"containers":[)"
              R"({{"name":"c","image":"i","command":["run"],"resources":{{"limits":{{"cpu":"2"}}}}}}]}}}}}},)"
              R"({{"name":"worker","replicas":4,"template":{{"spec":{{"nodeSelector":{{"a":"b"}},"containers":[)"
              R"({{"name":"c","image":"i","env":[{{"name":"TOKEN","value":"secret"}}],"ports":[{{"containerPort":1,)"
              R"("hostPort":7}}],"resources":{{"limits":{{"nvidia.com/gpu":8}}}}}}]}}}}}}]{}}}}})",
              labels, more))
          .value();
  CHECK(decoded.specError.empty());
  return decoded;
}

// The Workload as Kueue stores it, with another status.
model::KueueWorkload stored(const model::Job& of, std::string_view status = "{}",
                            std::string_view meta = "") {
  std::string text = encodeKueueWorkload(of, std::nullopt).value();
  text.insert(text.find("\"name\":"),
              fmt::format(R"("uid":"w","resourceVersion":"7","generation":2,{})", meta));
  text.insert(text.size() - 1, fmt::format(R"(,"status":{})", status));
  return decodeKueueWorkload(text).value();
}

std::string conditions(std::string_view type, std::string_view status, std::string_view message) {
  return fmt::format(
      R"({{"conditions":[{{"type":"{}","status":"{}","reason":"R","message":"{}","lastTransitionTime":"2026-01-01T00:00:00Z"}}]}})",
      type, status, message);
}

TEST_CASE("Kueue: a job asks for quota by its labels") {
  CHECK(!job("").kueue);
  CHECK(job().kueue == model::KueueRequest{.queue = "research"});
  CHECK(
      job(R"("kueue.x-k8s.io/queue-name":"q","kueue.x-k8s.io/prebuilt-workload-name":"w","kueue.x-k8s.io/priority-class":"p")")
          .kueue == model::KueueRequest{"q", "w", "p"});
}

TEST_CASE("Kueue: the Workload of a job has a podSet for each role, without commands and environment") {
  const auto body =
      encodeKueueWorkload(job(), KueuePriority{"scheduling.k8s.io", "PriorityClass", "high", 1000});
  REQUIRE(body);
  CHECK(
      *body ==
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"trainingjob-bert-01234567",)"
      R"("namespace":"ml","labels":{"trainyard.dev/job-name":"bert","kueue.x-k8s.io/job-uid":"0123456789"},)"
      R"("ownerReferences":[{"apiVersion":"trainyard.dev/v1alpha1","kind":"TrainingJob","name":"bert",)"
      R"("uid":"0123456789","controller":true,"blockOwnerDeletion":true}]},"spec":{"queueName":"research",)"
      R"("priority":1000,"priorityClassRef":{"group":"scheduling.k8s.io","kind":"PriorityClass","name":"high"},)"
      R"("podSets":[{"name":"ps","count":1,"template":{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"2"}}}]}}},)"
      R"({"name":"worker","count":4,"template":{"spec":{"nodeSelector":{"a":"b"},"containers":[{"name":"c",)"
      R"("resources":{"limits":{"nvidia.com/gpu":8}},"ports":[{"containerPort":1,"hostPort":7}]}]}}}]}})");
}

TEST_CASE("Kueue: a long name of a job still fits into a label") {
  model::Job named = job();
  named.key.name = std::string(63, 'x');
  CHECK(model::kueueWorkloadName(named) == "trainingjob-" + std::string(42, 'x') + "-01234567");
}

TEST_CASE("Kueue: an elastic role is charged at its maximum") {
  const model::Job elastic =
      job(R"("kueue.x-k8s.io/queue-name":"q")",
          R"(,"elastic":{"role":"worker","replicas":4,"minReplicas":2,"maxReplicas":6})");
  REQUIRE(elastic.specError.empty());
  CHECK(model::kueueCount(elastic, "worker") == 6);
  CHECK(model::kueueCount(elastic, "ps") == 1);
}

TEST_CASE("Kueue: a Workload covers the job that it was made of, and no larger one") {
  const model::Job bert = job();
  CHECK(model::coversJob(stored(bert), bert));
  model::Job larger = job();
  larger.spec.roles[1].replicas = 5;
  CHECK(!model::coversJob(stored(bert), larger));
  larger = job();
  larger.spec.roles[1].shape.requests.setExtended("nvidia.com/gpu", 4);
  CHECK(!model::coversJob(stored(bert), larger));
  larger = job();
  larger.spec.roles.pop_back();
  CHECK(!model::coversJob(stored(bert), larger));
}

TEST_CASE("Kueue: a job is held until its Workload is admitted, with Kueue's own message") {
  const model::Job bert = job();
  const auto why = [&](std::string_view status) {
    const model::KueueWorkload workload = stored(bert, status);
    return model::whyHeld(bert, &workload);
  };
  CHECK(model::whyHeld(bert, nullptr) == "Kueue's Workload for this job does not exist yet");
  CHECK(why("{}") == "waits in Kueue's LocalQueue research");
  CHECK(why(conditions("QuotaReserved", "False", "too few GPUs")) ==
        "waits in Kueue's LocalQueue research: too few GPUs");
  CHECK(
      why(R"({"conditions":[{"type":"QuotaReserved","status":"True"}],"admissionChecks":[{"name":"ok","state":"Ready"},)"
          R"({"name":"far","state":"Pending","message":"asks a cluster"}]})") ==
      "Kueue has reserved quota; it waits for admission check far: asks a cluster");
  constexpr std::string_view kAdmitted =
      R"({"type":"QuotaReserved","status":"True"},{"type":"Admitted","status":"True"})";
  CHECK(why(fmt::format(R"({{"conditions":[{}]}})", kAdmitted)).empty());
  CHECK(why(fmt::format(
            R"({{"conditions":[{},{{"type":"Evicted","status":"True","message":"Preempted to make way"}}]}})",
            kAdmitted)) == "Kueue evicted it: Preempted to make way");
  CHECK(
      why(fmt::format(R"({{"conditions":[{},{{"type":"Evicted","status":"False"}}]}})", kAdmitted)).empty());
  CHECK(why(fmt::format(R"({{"conditions":[{},{{"type":"Finished","status":"True"}}]}})", kAdmitted)) ==
        "Kueue's Workload trainingjob-bert-01234567 has finished");
}

TEST_CASE("Kueue: the Workload of a former job of the same name does not start this one") {
  const model::Job bert = job();
  model::Job former = job();
  former.uid = model::Uid("9876543210");
  const model::KueueWorkload workload = stored(
      former,
      R"({"conditions":[{"type":"QuotaReserved","status":"True"},{"type":"Admitted","status":"True"}]})");
  CHECK(model::whyHeld(bert, &workload) == "Kueue's Workload trainingjob-bert-98765432 is not the job's yet");
}

TEST_CASE("Kueue: quota is given back by conditions of one version, without the admission") {
  const model::KueueWorkload workload = stored(job(), conditions("QuotaReserved", "True", "m"));
  CHECK(
      encodeKueueStatus(workload, workload.conditions, true) ==
      R"({"metadata":{"uid":"w","resourceVersion":"7"},"status":{"conditions":[{"type":"QuotaReserved","status":"True",)"
      R"("reason":"R","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":0}],"admission":null}})");
  CHECK(
      encodeKueueOwner(workload, job())
          .starts_with(
              R"({"metadata":{"uid":"w","resourceVersion":"7","labels":{"kueue.x-k8s.io/job-uid":"0123456789"},"ownerReferences":[)"));
}

}  // namespace
}  // namespace trainyard::codec
