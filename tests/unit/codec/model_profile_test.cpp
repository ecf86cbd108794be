#include "codec/model_profile.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codec/job.h"
#include "codec/job_status.h"

using namespace trainyard;

namespace {

std::string refusal(const std::string& fields) {
  const auto profile = codec::decodeModelProfile("{" + fields + "}", "p.json");
  return profile ? std::string("accepted") : profile.error().message;
}

constexpr const char* kWhole =
    R"({"name":"mine","parameters":25557032,"bytesPerParameter":2,"largestTensorBytes":9437184,"layers":50,
"flopsPerSample":1.23e10,"batchSize":256,"samples":1281167,"sampleBytes":110000,"inputBytesPerSecond":500000000,
"synchronous":false,"exchange":"ParameterServers","speeds":[{"gpuType":"T4","samplesPerSecond":812.25}],
"measurements":[{"workersPerNode":[4,2],"servers":1,"batchPerWorker":32,"stepMicroseconds":381000,"gpuType":"T4"}],
"comment":"for people"})";

}  // namespace

TEST_CASE("a profile is read whole") {
  const auto profile = codec::decodeModelProfile(kWhole, "p.json");
  REQUIRE(profile);
  CHECK(profile->parameterBytes() == 51'114'064);
  CHECK(profile->flopsPerSample == 12'300'000'000);
  CHECK(profile->exchange == model::GradientExchange::kParameterServers);
  CHECK(profile->speeds.at(0).milliSamplesPerSecond == 812'250);
  CHECK(profile->measurements.at(0).workers == std::vector<int>{4, 2});
  CHECK(profile->measurements.at(0).stepNanos == 381'000'000);
}

TEST_CASE("a well-known name stands for figures that are not written") {
  const auto known =
      codec::decodeModelProfile(R"({"name":"resnet50","batchSize":256,"flopsPerSample":7})", "p");
  REQUIRE(known);
  CHECK(known->parameters == 25'557'032);
  CHECK(known->largestTensorBytes == 9'437'184);
  CHECK(known->flopsPerSample == 7);
}

TEST_CASE("nonsense in a profile is refused by name") {
  CHECK(refusal(R"("flopsPerSample":0)") ==
        "p.json: flopsPerSample: must be from 1 to 1000000000000000000, is 0");
  CHECK(refusal(R"("largestTensorBytes":-5)") ==
        "p.json: largestTensorBytes: must be from 1 to 1000000000000000, is -5");
  CHECK(refusal(R"("parameters":1000000000000000000)").find("p.json: parameters: must be from 1 to") == 0);
  CHECK(refusal(R"("parameters":1e18)").find("p.json: parameters: must be from 1 to") == 0);
  CHECK(refusal(R"("parameters":1.5)").find("p.json: parameters: expected a whole number") == 0);
  CHECK(refusal(R"("flopsPerSample":NaN)") == "p.json: flopsPerSample: NaN is not a number");
  CHECK(refusal(R"("batchSize":8,"flopsPerSample": -Infinity)") ==
        "p.json: flopsPerSample: Infinity is not a number");
  CHECK(refusal(R"("flopsPerSample":"NaN")").find("p.json: flopsPerSample: expected an integer") == 0);
  CHECK(refusal(R"("parameters":100,"largestTensorBytes":401)") ==
        "p.json: largestTensorBytes: is 401, more than all parameters take, 400");
  CHECK(refusal(R"("batchSize":8,"batchPerWorker":8)").find("p.json: batchPerWorker: must be left out") == 0);
  CHECK(refusal(R"("flops":5)") == "p.json: [flops]: is not a field of a profile");
  CHECK(refusal(R"("speeds":[{"gpuType":"T4","samplesPerSecond":0}])")
            .find("samplesPerSecond: must be above 0") != std::string::npos);
  CHECK(refusal(R"("measurements":[{"workersPerNode":[0],"batchPerWorker":1,"stepMicroseconds":1}])")
            .find("p.json: measurements[0].workersPerNode[0]: must be from 1") == 0);
  CHECK(refusal(R"("measurements":[{"workersPerNode":[1],"batchPerWorker":1}])") ==
        "p.json: measurements[0].stepMicroseconds: is required");
  const auto onNodes = [](std::size_t nodes) {
    return fmt::format(R"({{"workersPerNode":[{}],"batchPerWorker":1,"stepMicroseconds":1}})",
                       fmt::join(std::vector<int>(nodes, 1), ","));
  };
  const auto steps = [&](std::size_t count, std::size_t nodes) {
    return fmt::to_string(fmt::join(std::vector<std::string>(count, onNodes(nodes)), ","));
  };
  CHECK(refusal(fmt::format(R"("measurements":[{}])", onNodes(257))) ==
        "p.json: measurements[0].workersPerNode: needs 1 to 256 nodes");
  CHECK(refusal(fmt::format(R"("measurements":[{}])", steps(65, 1))) ==
        "p.json: measurements: must not have more than 64 steps");
  CHECK(refusal(fmt::format(R"("measurements":[{},{}])", steps(16, 256), onNodes(1))) ==
        "p.json: measurements: must not have more than 4096 nodes in all, has 4097");
  CHECK(refusal(fmt::format(R"("batchSize":8,"measurements":[{}])", steps(16, 256))) == "accepted");
  CHECK(refusal(R"("exchange":"Gossip")").find("p.json: exchange: must be one of") == 0);
  CHECK(codec::decodeModelProfile("[]", "p.json").error().message == "p.json: expected an object");
}

TEST_CASE("a planned job has its plan's size and its hash changes with the plan") {
  const auto decode = [](const std::string& plan, const std::string& mode) {
    return codec::decodeJob(fmt::format(
        R"({{"metadata":{{"namespace":"ml","name":"a","generation":3}},"spec":{{"framework":"TensorFlow",
"elastic":{{"role":"worker","replicas":2,"minReplicas":1,"maxReplicas":6}},"gang":{{"minAvailable":3}},
"plan":{{"mode":"{}","maxGPUs":64,"model":{{"name":"vgg16","batchSize":512}}}},
"roles":[{{"name":"worker","replicas":2,"template":{{"spec":{{"containers":[{{"name":"t"}}]}}}}}},
{{"name":"ps","replicas":1,"template":{{"spec":{{"containers":[{{"name":"t"}}]}}}}}}]}}{}}})",
        mode, plan));
  };
  const std::string plan =
      R"(,"status":{"plan":{"generation":3,"roles":[{"name":"worker","replicas":5},{"name":"ps","replicas":2},
{"name":"gone","replicas":9}],"nodes":4,"gpuType":"T4","predictedStepMicroseconds":381000,
"predictedMilliSamplesPerSecond":8400,"message":"why","plannedAt":"2026-03-01T00:00:00Z"}})";
  const auto written = decode("", "Auto");
  const auto planned = decode(plan, "Auto");
  const auto off = decode(plan, "Off");
  REQUIRE(written);
  REQUIRE(planned);
  REQUIRE(off);
  CHECK(written->specError.empty());
  CHECK(planned->specError.empty());
  CHECK(planned->spec.plan.automatic);
  CHECK(planned->spec.plan.maxGpus == 64);
  CHECK(planned->spec.plan.profile->parameters == 138'357'544);
  CHECK(written->spec.totalReplicas() == 3);
  CHECK(planned->spec.totalReplicas() == 7);
  CHECK(planned->spec.elastic->replicas == 5);
  CHECK(planned->spec.templateHash != written->spec.templateHash);
  CHECK(off->spec.totalReplicas() == 3);
  // The encoded status decodes to the same value.
  const std::string again = codec::encodeJobStatus(planned->status);
  CHECK(again.find(R"("predictedMilliSamplesPerSecond":8400)") != std::string::npos);
  CHECK(decode(",\"status\":" + again, "Auto")->status.plan == planned->status.plan);
}
