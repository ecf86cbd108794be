#include "cli/plan.h"

#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "cli/measurements.h"
#include "codec/json_value.h"

using namespace trainyard;

namespace {

constexpr const char* kJob = R"(apiVersion: trainyard.dev/v1alpha1
kind: TrainingJob
metadata: {name: bert}
spec:
  framework: PyTorch
  plan:
    model: {name: bert-base, batchSize: 512}  # known by name
  roles:
  - name: worker
    replicas: 3  # a guess
    template:
      spec:
        containers:
        - name: train
          image: train:1
          resources: {limits: {nvidia.com/gpu: 1}}
)";

model::Snapshot clusterOf(const std::string& nodes) {
  auto made = cli::parseNodes(nodes, 0);
  REQUIRE(made);
  std::vector<std::shared_ptr<const model::Node>> all;
  for (auto& each : *made) all.push_back(std::make_shared<const model::Node>(std::move(each)));
  model::Snapshot snapshot;
  snapshot.nodes = model::SharedList<model::Node>(std::move(all));
  return snapshot;
}

std::vector<cli::Manifest> manifests() {
  auto read = cli::parseManifests(kJob, "job.yaml");
  REQUIRE(read);
  return std::move(*read);
}

}  // namespace

TEST_CASE("plan ranks the shapes of a job on described nodes") {
  const auto shapes = cli::planShapes(manifests(), {}, "ml", clusterOf("4x4:Tesla-T4@25"));
  REQUIRE(shapes);
  const std::string json = cli::shapesJson(*shapes);
  const auto document = codec::JsonDocument::parse(json);
  REQUIRE(document);
  CHECK(document->root().find("job").string() == "ml/bert");
  int candidates = 0;
  document->root().find("candidates").forEachElement([&](codec::JsonValue each) {
    ++candidates;
    CHECK(each.find("workers").integer().value_or(0) > 0);
    CHECK(each.find("servers").integer() == 0);
    CHECK(each.find("nodes").integer().value_or(0) > 0);
    CHECK(each.find("predictedStepSeconds").type() == codec::JsonType::kReal);
    CHECK(each.find("samplesPerSecond").type() == codec::JsonType::kReal);
    CHECK(each.find("gpuType").string() == "Tesla-T4");
  });
  CHECK(candidates == 16);
  const std::string text = cli::shapesText(*shapes, 3);
  CHECK(text.find("ml/bert: ") == 0);
  CHECK(text.find("and 13 more") != std::string::npos);
}

TEST_CASE("plan writes the numbers into the file and leaves the rest as it was") {
  const auto read = manifests();
  model::ShapePlan plan;
  plan.roles = {{"worker", 12}};
  const auto changed = cli::writtenInto(kJob, read.front(), plan);
  REQUIRE(changed);
  std::string expected = kJob;
  expected.replace(expected.find("replicas: 3"), 11, "replicas: 12");
  CHECK(*changed == expected);
}

TEST_CASE("plan reports which values are missing") {
  auto read = cli::parseManifests(
      std::string(kJob).replace(std::string(kJob).find("name: bert-base, "), 17, ""), "job.yaml");
  REQUIRE(read);
  const auto shapes = cli::planShapes(*read, {}, "ml", clusterOf("4x4"));
  REQUIRE_FALSE(shapes);
  CHECK(
      shapes.error().message ==
      "job.yaml:7: spec.plan.model.flopsPerSample: is required to plan the job, or speeds, or measurements");
  CHECK_FALSE(cli::planShapes(manifests(), {}, "ml", clusterOf("4x0")));
}

TEST_CASE("measured steps are read from a table") {
  const auto steps = cli::parseMeasurements(
      "placement,batch,step_seconds,servers,gpu_type\n22,32,0.381,0,T4\n8+8+4,16,1.5,2,\n16x2,1,0.000002,0,"
      "T4\n",
      "m.csv");
  REQUIRE(steps);
  REQUIRE(steps->size() == 3);
  CHECK(steps->at(0) == model::MeasuredStep{{2, 2}, 32, 381'000'000, 0, "T4"});
  CHECK(steps->at(1).workers == std::vector<int>{8, 8, 4});
  CHECK(steps->at(1).servers == 2);
  CHECK(steps->at(2).workers == std::vector<int>{16, 16});
  // The format of Pollux' tables.
  CHECK(cli::parseMeasurements("placement,local_bsz,step_time,sync_time\n1,4,0.4,0.1\n", "m.csv"));
  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {"placement,batch\n1,2\n", "step_seconds"},
           {"placement,batch,step_seconds\n", "needs 1 to 1000 measured steps"},
           {"placement,batch,step_seconds\n0,1,1\n", "placement"},
           {"placement,batch,step_seconds\n1,1,nan\n", "step_seconds"},
           {"placement,batch,step_seconds\n1,-1,1\n", "batch"},
           {"placement,batch,step_seconds\n1,1,0\n", "step_seconds"}}) {
    const auto refused = cli::parseMeasurements(text, "m.csv");
    REQUIRE_FALSE(refused);
    CAPTURE(refused.error().message);
    CHECK(refused.error().message.find(said) != std::string::npos);
    CHECK(refused.error().message.find("m.csv") == 0);
  }
}

TEST_CASE("nodes are described by a short text") {
  const auto nodes = cli::parseNodes("3x8:NVIDIA-A100-SXM4-80GB@200", 5);
  REQUIRE(nodes);
  REQUIRE(nodes->size() == 3);
  CHECK(nodes->front().name.str() == "node-00005");
  CHECK(nodes->front().allocatable.gpus() == 8);
  CHECK(*nodes->front().labels.find("nvidia.com/gpu.product") == "NVIDIA-A100-SXM4-80GB");
  CHECK(*nodes->front().labels.find("trainyard.dev/network-gbps") == "200");
  for (const char* wrong : {"", "4", "x4", "0x4", "4x", "4x4x", "4x4:", "4x4@", "4x4@0", "-1x4", "4x4:a@b"})
    CHECK_FALSE(cli::parseNodes(wrong, 0));
}
