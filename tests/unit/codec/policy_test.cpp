#include "codec/policy.h"

#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codec/duration.h"

using namespace trainyard;
using namespace std::chrono_literals;

namespace {

model::Policy decoded(const std::string& yaml) {
  const auto policy = codec::decodePolicy(yaml, "policy.yaml");
  INFO((policy ? "" : policy.error().message));
  REQUIRE(policy);
  return *policy;
}

std::string refusal(const std::string& yaml) {
  const auto policy = codec::decodePolicy(yaml, "policy.yaml");
  return policy ? "taken" : policy.error().message;
}

std::string aliases() {
  std::string text = "ordering: fifo\nshapeCosts:\n- &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 8; ++i) {
    text += fmt::format("- &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  }
  return text;
}

}  // namespace

TEST_CASE("durations are whole numbers with units and the larger unit comes first") {
  CHECK(codec::parseDuration("90s") == 90s);
  CHECK(codec::parseDuration("10m") == 10min);
  CHECK(codec::parseDuration("1h30m") == 90min);
  CHECK(codec::parseDuration("1h0m1s500ms") == 1h + 1s + 500ms);
  CHECK(codec::parseDuration("0s") == 0s);
  for (const char* bad :
       {"", "5", "0", "s", "-3s", "+3s", "1.5h", "3 s", "3s ", "1m1h", "1s1s", "1d", "1e3s", "NaN", "infs",
        "9223372036854775807h", "99999999999999999999s", "2562047788015h2562047788015m"}) {
    CAPTURE(bad);
    CHECK_FALSE(codec::parseDuration(bad));
  }
}

TEST_CASE("an empty policy file is the default policy") {
  for (const char* text :
       {"", "\n\n", "# nothing\n", "---\n", "{}", "~", "relaxation:\npreemption: {}\nshapeCosts:\n"}) {
    CAPTURE(text);
    CHECK(decoded(text) == model::Policy());
  }
}

TEST_CASE("the example file states the defaults") {
  std::ifstream in(TRAINYARD_SOURCE_DIR "/examples/policy.yaml");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  REQUIRE_FALSE(text.empty());
  CHECK(decoded(text) == model::Policy());
  CHECK(codec::decodePolicyFile(text, "policy.yaml")->provisioning == model::ProvisioningPolicy());
  CHECK(text.find("retryAfter: 5m") != std::string::npos);
}

TEST_CASE("every key of a policy is read") {
  const model::Policy policy = decoded(R"(
topology:
- {name: zone, label: topology.kubernetes.io/zone}
- {name: leaf, label: example.com/leaf}
gpuResources: [nvidia.com/gpu, amd.com/gpu]
gpuTypeLabel: example.com/gpu
ordering: srsf
relaxation: {base: 2m, perGpu: 1s500ms, ofEstimate: 0.125, cap: 3h}
shapeCosts:
- {nodes: 2, gpusPerNode: 2, slowdown: 1.3}
- nodes: 4
  gpusPerNode: 1
  slowdown: 0.95
backfill: {enabled: false, reservationLimit: 1h, keepFreed: 0s}
preemption: {minRuntime: 10m, maxLostWork: 0s, maxGrace: 1h}
timeSlicing: {enabled: true, interval: 5m}
defragmentation: {enabled: false, gain: 3.5}
usageHalfLife: 168h
unreachableGrace: never
chargeOtherPods: true
requireQueue: true
)");
  model::Policy expected;
  expected.topology = {{"zone", "topology.kubernetes.io/zone"},
                       {"leaf", "example.com/leaf"},
                       {"node", "kubernetes.io/hostname"}};
  expected.gpuResources = {"nvidia.com/gpu", "amd.com/gpu"};
  expected.gpuTypeLabel = "example.com/gpu";
  expected.ordering = model::Ordering::kSrsf;
  expected.relaxation = {.base = 2min, .perGpu = 1500ms, .permilleOfEstimate = 125, .cap = 3h};
  expected.shapeCosts = {{2, 2, 1300}, {4, 1, 950}};
  expected.backfill = {.enabled = false, .reservationLimit = 1h, .keepFreed = 0s};
  expected.preemption = {.minRuntime = 10min, .maxLostWork = 0s, .maxGrace = 1h};
  expected.timeSlicing = {.enabled = true, .interval = 5min};
  expected.defragmentation = {.enabled = false, .gainPermille = 3500};
  expected.usageHalfLife = 168h;
  expected.unreachableGrace.reset();
  expected.chargeOtherPods = true;
  expected.requireQueue = true;
  CHECK(policy == expected);
}

TEST_CASE("provisioning is read beside the policy") {
  const auto file = codec::decodePolicyFile(
      "ordering: fifo\nprovisioning: {with: ProvisioningRequest, class: check-capacity.autoscaling.x-k8s.io, "
      "after: 1m, "
      "giveUpAfter: 20m, retryAfter: 2m, maxJobs: 3}\n",
      "policy.yaml");
  REQUIRE(file);
  CHECK(file->policy.ordering == model::Ordering::kFifo);
  const model::ProvisioningPolicy expected{.by = model::ProvisioningBy::kProvisioningRequest,
                                           .className = "check-capacity.autoscaling.x-k8s.io",
                                           .after = 1min,
                                           .giveUpAfter = 20min,
                                           .retryAfter = 2min,
                                           .maxJobs = 3};
  CHECK(file->provisioning == expected);
  CHECK(refusal("provisioning: {with: Karpenter}") ==
        "policy.yaml:1: provisioning.with: must be Nothing, ProvisioningRequest or PlaceholderPods, not "
        "Karpenter");
  CHECK(refusal("provisioning: {class: Check_Capacity}")
            .find("provisioning.class: must be a provisioning class") != std::string::npos);
  CHECK(refusal("provisioning: {giveUpAfter: 0s}").find("giveUpAfter: must be at least 1s") !=
        std::string::npos);
  CHECK(refusal("provisioning: true").find("provisioning") != std::string::npos);
}

TEST_CASE("a topology is a preset or a list") {
  for (const std::string& name : model::topologyPresetNames()) {
    CAPTURE(name);
    CHECK(decoded("topology: " + name).topology == model::topologyPreset(name));
  }
  const std::vector<model::TopologyLevel> hosts = {{"host", "kubernetes.io/hostname"}};
  CHECK(decoded("topology: [{name: host, label: kubernetes.io/hostname}]").topology == hosts);
  CHECK(decoded("topology: []").topology ==
        std::vector<model::TopologyLevel>{{"node", "kubernetes.io/hostname"}});
}

TEST_CASE("an invalid policy file is refused by line and field") {
  const auto [yaml, says] = GENERATE(table<std::string, std::string>({
      {"ordering: fifo\nrelaxation:\n  perGpu: -3s",
       "policy.yaml:3: relaxation.perGpu: must be a duration such as 90s, 10m or 1h30m, not -3s"},
      {"relaxation: {base: 60}",
       "policy.yaml:1: relaxation.base: must be a duration such as 90s, 10m or 1h30m, not 60"},
      {"relaxation: {cap: 9000h}",
       "policy.yaml:1: relaxation.cap: must be a year, 8760h, at most, not 9000h"},
      {"relaxation: {cap: 99999999999999999999h}",
       "policy.yaml:1: relaxation.cap: must be a duration such as 90s, 10m or 1h30m, not "
       "99999999999999999999h"},
      {"relaxation:\n  base: ~\n", "policy.yaml:2: relaxation.base: has no value"},
      {"relaxation:\n  base:\n  cap: 1h", "policy.yaml:2: relaxation.base: has no value"},
      {"relaxation:\n  base: \"\"\n",
       "policy.yaml:2: relaxation.base: must be a duration such as 90s, 10m or 1h30m, not \"\""},
      {"relaxation:\n  base: [1s]\n", "policy.yaml:2: relaxation.base: must be a single value"},
      {"relaxation: 5s",
       "policy.yaml:1: relaxation: must be a map with the keys base, perGpu, ofEstimate, cap"},
      {"\nrelaxation:\n\n  perGPU: 5s",
       "policy.yaml:4: relaxation.perGPU: is not a known key; known are base, perGpu, ofEstimate, cap"},
      {"orderring: fifo",
       "policy.yaml:1: orderring: is not a known key; known are topology, gpuResources, deviceClasses, "
       "gpuTypeLabel, "
       "mixGpuTypes, "
       "ordering, relaxation, shapeCosts, backfill, preemption, timeSlicing, defragmentation, resize, "
       "usageHalfLife, "
       "unreachableGrace, chargeOtherPods, requireQueue, failures, preflight, "
       "provisioning"},
      {"preflight: {command: [a]}", "policy.yaml:1: preflight: needs an image"},
      {"preflight: {image: a, command: b}", "policy.yaml:1: preflight.command: must be a list"},
      {"ordering: sjf", "policy.yaml:1: ordering: must be fifo, las, srtf, srsf or default, not sjf"},
      {"ordering:", "policy.yaml:1: ordering: has no value"},
      {"ordering: fifo\nordering: las", "policy.yaml:2: key \"ordering\" occurs twice"},
      {"ordering: fifo\n---\nordering: las", "policy.yaml:2: only one document is read"},
      {"ordering: [", "policy.yaml:1: end of sequence flow not found"},
      {"- a",
       "policy.yaml:1: must be a map with the keys topology, gpuResources, deviceClasses, gpuTypeLabel, "
       "mixGpuTypes, "
       "ordering, "
       "relaxation, shapeCosts, backfill, preemption, timeSlicing, defragmentation, resize, usageHalfLife, "
       "unreachableGrace, chargeOtherPods, requireQueue, failures, preflight, "
       "provisioning"},
      {"? {a: b}\n: c", "policy.yaml:1: a key must be a text"},
      {"topology: mine",
       "policy.yaml:1: topology: must be a list of levels or one of default, topograph, topograph-legacy, "
       "topograph-block, gke, aws, oci, not mine"},
      {"topology:\n- {name: Rack, label: a}",
       "policy.yaml:2: topology[0].name: must be lower-case letters, digits and dashes, 32 at most, a letter "
       "first, not Rack"},
      {"topology:\n- {name: rack}", "policy.yaml:2: topology[0]: needs a label, the key of a node label"},
      {"topology:\n- {name: rack, label: a b}",
       "policy.yaml:2: topology[0].label: must be a label key such as nvidia.com/gpu.product, not a b"},
      {"topology:\n- {name: rack, label: a}\n- {name: rack, label: b}",
       "policy.yaml:3: topology[1].name: must be used once only, not rack"},
      {"topology:\n- {name: rack, label: a}\n- {name: row, label: a}",
       "policy.yaml:3: topology[1].label: must be used once only, not a"},
      {"topology:\n- {name: node, label: kubernetes.io/hostname}\n- {name: rack, label: a}",
       "policy.yaml:3: topology[1]: is below the level of single nodes, which must be the last"},
      {"topology:\n- {name: node, label: a}",
       "policy.yaml:1: topology: the level node must be the last, with label kubernetes.io/hostname"},
      {"gpuTypeLabel: /x",
       "policy.yaml:1: gpuTypeLabel: must be a label key such as nvidia.com/gpu.product, not /x"},
      {"shapeCosts:\n- {nodes: 2, gpusPerNode: 2, slowdown: NaN}",
       "policy.yaml:2: shapeCosts[0].slowdown: must be a factor from 0.1 to 100 such as 1.25, not NaN"},
      {"shapeCosts:\n- {nodes: 2, gpusPerNode: 2, slowdown: -1.5}",
       "policy.yaml:2: shapeCosts[0].slowdown: must be a factor from 0.1 to 100 such as 1.25, not -1.5"},
      {"shapeCosts:\n- {nodes: 2, gpusPerNode: 2, slowdown: 1e3}",
       "policy.yaml:2: shapeCosts[0].slowdown: must be a factor from 0.1 to 100 such as 1.25, not 1e3"},
      {"shapeCosts:\n- {nodes: 2, gpusPerNode: 2, slowdown: 0}",
       "policy.yaml:2: shapeCosts[0].slowdown: must be a factor from 0.1 to 100 such as 1.25, not 0"},
      {"shapeCosts:\n- {nodes: 2, gpusPerNode: 2}", "policy.yaml:2: shapeCosts[0]: needs slowdown"},
      {"shapeCosts:\n- {nodes: 0, gpusPerNode: 2, slowdown: 1}",
       "policy.yaml:2: shapeCosts[0].nodes: must be a whole number from 1 to 1000000, not 0"},
      {"shapeCosts:\n- {nodes: 99999999999999999999, gpusPerNode: 2, slowdown: 1}",
       "policy.yaml:2: shapeCosts[0].nodes: must be a whole number from 1 to 1000000, not "
       "99999999999999999999"},
      {"shapeCosts:\n- {nodes: 2, gpusPerNode: 2, slowdown: 1}\n- {nodes: 2, gpusPerNode: 2, slowdown: 2}",
       "policy.yaml:3: shapeCosts[1]: 2 nodes with 2 GPUs each occur twice"},
      {"shapeCosts: {nodes: 2}", "policy.yaml:1: shapeCosts: must be a list"},
      {"backfill: {reservationLimit: 1.5}",
       "policy.yaml:1: backfill.reservationLimit: must be a duration such as 90s, 10m or 1h30m, not 1.5"},
      {"backfill: {keepFreed: 2}",
       "policy.yaml:1: backfill.keepFreed: must be a duration such as 90s, 10m or 1h30m, not 2"},
      {"preemption: {minRuntime: inf}",
       "policy.yaml:1: preemption.minRuntime: must be a duration such as 90s, 10m or 1h30m, not inf"},
      {"timeSlicing: {enabled: maybe}",
       "policy.yaml:1: timeSlicing.enabled: must be true or false, not maybe"},
      {"timeSlicing: {interval: 999ms}",
       "policy.yaml:1: timeSlicing.interval: must be at least 1s, not 999ms"},
      {"defragmentation: {gain: 0.5}",
       "policy.yaml:1: defragmentation.gain: must be a factor from 1 to 1000 such as 2, not 0.5"},
      {"relaxation: {ofEstimate: 1.0001}",
       "policy.yaml:1: relaxation.ofEstimate: must be a part of the estimated duration from 0 to 1 such as "
       "0.05, "
       "not 1.0001"},
      {"gpuResources: nvidia.com/gpu", "policy.yaml:1: gpuResources: must be a list"},
      {"gpuResources: []", "policy.yaml:1: gpuResources: must name a resource"},
      {"gpuResources: [gpu]",
       "policy.yaml:1: gpuResources[0]: must be an extended resource such as nvidia.com/gpu, not gpu"},
      {"gpuResources: [amd.com/gpu, amd.com/gpu]",
       "policy.yaml:1: gpuResources[1]: must occur only once, not amd.com/gpu"},
      {"unreachableGrace: soon",
       "policy.yaml:1: unreachableGrace: must be a duration such as 90s, 10m or 1h30m, or never, not soon"},
      {"usageHalfLife: 0s", "policy.yaml:1: usageHalfLife: must be at least 1s, not 0s"},
      {"usageHalfLife: 1s5ms", "policy.yaml:1: usageHalfLife: must be whole seconds, not 1s5ms"},
      {"chargeOtherPods: 1", "policy.yaml:1: chargeOtherPods: must be true or false, not 1"},
  }));
  CHECK(refusal(yaml) == says);
}

TEST_CASE("text that is hardly YAML is refused by line") {
  for (const char* text : {"!!str,", "&a [*a]", "*a", "%YAML 9", "\t- x", "{", "}", "- -", "\xff\xfe\xff",
                           "\x04", "ordering: !mine fifo", "a: b: c", "'", "ordering: !!binary x",
                           "relaxation: &r {base: 1s, base: *r}", "? ? ?", "|\n\tx", ": :"}) {
    CAPTURE(text);
    CHECK_THAT(refusal(text), Catch::StartsWith("policy.yaml:1: ") || Catch::StartsWith("policy.yaml:2: "));
  }
}

TEST_CASE("a policy file has bounds") {
  CHECK_THAT(refusal(aliases()), Catch::Contains("more than 10000 values"));
  CHECK_THAT(refusal("shapeCosts: " + std::string(40, '[') + std::string(40, ']')),
             Catch::Contains("nested deeper than 32 levels"));
  CHECK(refusal(std::string((1 << 20) + 1, '#')) == "policy.yaml:1: larger than 1 MiB");
  CHECK_THAT(refusal("ordering: " + std::string(5'000, 'x')), Catch::EndsWith("x…"));
}

TEST_CASE("the chart's schema lists exactly the orderings of the code") {
  std::string listed;
  for (const auto& each : model::kOrderings)
    listed += fmt::format("{}\"{}\"", listed.empty() ? "" : ", ", each.name);
  std::ifstream file(std::string(TRAINYARD_SOURCE_DIR) + "/helm/trainyard/values.schema.json");
  const std::string schema{std::istreambuf_iterator<char>(file), {}};
  CHECK_THAT(schema, Catch::Contains("\"ordering\": {\"enum\": [" + listed + "]}"));
}

TEST_CASE("gpuResources are read from a policy that is wrong elsewhere") {
  const auto resources =
      codec::decodeGpuResources("gpuResources: [amd.com/gpu]\nordering: best\nnoSuchKey: 1\n", "policy.yaml");
  REQUIRE(resources);
  CHECK(*resources == std::vector<std::string>{"amd.com/gpu"});
  CHECK(codec::decodeGpuResources("", "policy.yaml").value() == model::Policy().gpuResources);
  CHECK_THAT(codec::decodeGpuResources("gpuResources: 1\n", "policy.yaml").error().message,
             Catch::Contains("policy.yaml:1: gpuResources"));
  CHECK_FALSE(codec::decodeGpuResources("a: [\n", "policy.yaml"));
}

TEST_CASE("a policy may name the check of nodes") {
  const auto policy = codec::decodePolicy(
      "preflight:\n  image: check:1\n  command: [timeout, \"120\", check]\n", "policy.yaml");
  REQUIRE(policy);
  CHECK(policy->preflight.image == "check:1");
  CHECK(policy->preflight.command == std::vector<std::string>{"timeout", "120", "check"});
}
