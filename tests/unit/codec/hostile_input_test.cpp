#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/rng.h"
#include "codec/job.h"
#include "codec/job_status.h"
#include "codec/json_value.h"
#include "codec/member_pod.h"
#include "codec/node.h"
#include "codec/object_meta.h"
#include "codec/pod.h"
#include "codec/pod_requests.h"
#include "codec/priority_class.h"
#include "codec/queue.h"
#include "codec/stripping.h"

using namespace trainyard;

namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::string nested(std::size_t depth) { return repeated("[", depth) + repeated("]", depth); }

// Every decoder returns an error or a value for any input.
void decodeWithAll(std::string_view json) {
  if (!codec::decodeNode(json)) {
    if (const auto node = codec::decodePartOfNode(json)) REQUIRE_FALSE(node->takesPods());
  }
  if (!codec::decodePod(json)) {
    const auto pod = codec::decodePartOfBoundPod(json);
    if (pod) REQUIRE((pod->bound() && !pod->key.name.empty() && pod->shape.requests.pods > 0));
  }
  static_cast<void>(codec::decodeQueue(json));
  static_cast<void>(codec::decodePriorityClass(json));
  const auto job = codec::decodeJob(json);
  if (!job) {
    REQUIRE(job.error().code == base::ErrorCode::kInvalid);
    REQUIRE_FALSE(job.error().message.empty());
    return;
  }
  // Every decoded value can be encoded.
  REQUIRE(codec::JsonDocument::parse(codec::encodeJobStatus(job->status)));
  for (const model::Role& role : job->spec.roles) {
    const auto pod = codec::encodeMemberPod(*job, role, 0, {.epoch = 1, .pinned = model::NodeName("n")});
    if (job->specError.empty()) REQUIRE(pod);
    if (pod) REQUIRE(codec::JsonDocument::parse(*pod));
  }
}

constexpr std::string_view kJob = R"({"metadata":{"name":"bert","namespace":"ml","uid":"j1","generation":4,
  "finalizers":["trainyard.dev/release"],"creationTimestamp":"2026-11-21T09:00:00Z","ownerReferences":[{"controller":true}]},
 "spec":{"framework":"PyTorch","containers":[{"name":"x","resources":{"requests":{"cpu":"1"}}}],
  "roles":[{"name":"worker","replicas":4,"template":{"metadata":{"labels":{"a":"b"}},
   "spec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":8,"cpu":"1.5"}},"env":[{"name":"A","value":"1"}]}],
    "initContainers":[{"name":"i","restartPolicy":"Always"}],"overhead":{"cpu":"1m"},"tolerations":[{"key":"k","effect":"NoSchedule"}],
    "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}}}}}}],
  "elastic":{"role":"worker","replicas":3,"minReplicas":2,"maxReplicas":8},"gang":{"minAvailable":3},
  "locality":{"levels":[{"level":"node","waitSeconds":60}],"required":"node"},"success":{"roles":["worker"]}},
 "status":{"phase":"Queued","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-11-21T09:00:00Z"}],
  "allocatable":{"cpu":"4"},"containerStatuses":[{"name":"x","state":{"terminated":{"exitCode":1}}}],
  "gang":{"lastEpoch":1,"placed":{"epoch":1,"assignments":[{"node":"n1","role":"worker","indices":"0-3"}]},
   "proposal":{"id":"p","kind":"Grow","phase":"Reserved","victims":[{"namespace":"a","name":"b","uid":"c"}]}},
  "pending":{"reason":"TooLarge","shortfall":{"needed":4}}}})";

}  // namespace

TEST_CASE("the job that these tests damage is valid") {
  const auto job = codec::decodeJob(kJob);
  REQUIRE(job);
  CHECK(job->specError.empty());
}

TEST_CASE("deep nesting costs no stack and hides no object") {
  for (const std::size_t depth : {65UL, 1'025UL, 100'000UL}) {
    CHECK_FALSE(codec::decodePod(nested(depth)));
    CHECK(codec::decodeNode(fmt::format(R"({{"metadata":{{"name":"n"}},"x":{}}})", nested(depth)))->name ==
          model::NodeName("n"));
    // The API server keeps managed fields of unknown content, and users may write them into their pods. Such
    // a pod holds its GPUs all the same, and its end must be detected.
    const std::string pod = fmt::format(
        R"({{"metadata":{{"name":"p","namespace":"ml","uid":"u","managedFields":[{{"fieldsV1":{}}}]}},
             "spec":{{"nodeName":"n1","containers":[{{"name":"c","resources":{{"limits":{{"nvidia.com/gpu":"8"}},
             "requests":{{"nvidia.com/gpu":"8"}}}}}}]}}}})",
        nested(depth));
    const auto read = codec::decodePod(pod);
    REQUIRE(read);
    CHECK(read->node == model::NodeName("n1"));
    CHECK(read->shape.requests.gpus() == 8);
    CHECK(codec::decodeObjectMeta(pod)->uid == "u");
    CHECK(codec::encodeStrippingPatch(model::Uid("u"), pod));
  }
  CHECK_FALSE(codec::decodePod(repeated("{\"a\":", 100'000)));
  CHECK_FALSE(codec::decodeJob(repeated("[", 100'000)));
}

TEST_CASE("a template nested too deeply makes the spec unusable and the job stays readable") {
  for (const std::size_t depth : {60UL, 1'000UL, 100'000UL}) {
    const auto job = codec::decodeJob(fmt::format(
        R"({{"metadata":{{"name":"bert","namespace":"ml"}},"spec":{{"framework":"PyTorch","roles":[{{"name":"worker",
             "template":{{"spec":{{"containers":[{{"name":"c","x":{},"y":"]]}}}}\"["}}]}}}}}}]}},"status":{{"gang":{{"lastEpoch":7}}}}}})",
        nested(depth)));
    REQUIRE(job);
    CHECK(job->specError == "spec: nested deeper than 48 levels");
    CHECK(job->status.gang.lastEpoch == 7);
  }
}

// The API server refuses this object; `trainyard simulate` reads objects that no API server has checked.
TEST_CASE("a planned size between bounds that cross makes only the spec unusable") {
  const auto job = codec::decodeJob(
      R"({"metadata":{"namespace":"ml","name":"a","uid":"u"},"spec":{"framework":"PyTorch","plan":{"mode":"Auto"},)"
      R"("roles":[{"name":"worker","template":{"spec":{"containers":[{"name":"m","image":"i"}]}}}],)"
      R"("elastic":{"role":"worker","minReplicas":5,"maxReplicas":2}},)"
      R"("status":{"plan":{"roles":[{"name":"worker","replicas":3}]}}})");
  REQUIRE(job);
  CHECK_THAT(job->specError, Catch::StartsWith("spec.elastic"));
}

TEST_CASE("large input is refused before it is parsed") {
  const std::string big =
      fmt::format(R"({{"metadata":{{"name":"p"}},"x":"{}"}})", std::string(50u << 20, 'a'));
  CHECK(codec::decodePod(big).error().message ==
        fmt::format("pod: JSON of {} bytes: at most 16777216 are accepted", big.size()));
  CHECK_FALSE(codec::decodeJob(big));
}

TEST_CASE("invalid numbers are refused and too large amounts saturate") {
  for (const char* number :
       {"NaN", "Infinity", "-Infinity", "1e999", "0x10", "01", "+1", "1.", ".5", "--1"}) {
    CAPTURE(number);
    CHECK_FALSE(
        codec::decodePriorityClass(fmt::format(R"({{"metadata":{{"name":"p"}},"value":{}}})", number)));
  }
  for (const char* number :
       {"2147483648", "-2147483649", "9223372036854775808", "1e9", "1.5", "true", "\"1\"", "[]", "{}"}) {
    CAPTURE(number);
    const auto refused =
        codec::decodePriorityClass(fmt::format(R"({{"metadata":{{"name":"p"}},"value":{}}})", number));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.starts_with("priority class p: value: "));
  }
  CHECK(codec::decodePriorityClass(R"({"metadata":{"name":"p"},"value":null})")->value == 0);
  const auto gpus = [](std::string_view amount) {
    return codec::decodeNode(fmt::format(
        R"({{"metadata":{{"name":"n"}},"status":{{"allocatable":{{"nvidia.com/gpu":{}}}}}}})", amount));
  };
  for (const char* amount : {"-1", "\"-8\"", "\"NaN\"", "\"-1e99\"", "\"\"", "\"8 \""}) {
    CAPTURE(amount);
    CHECK_FALSE(gpus(amount));
  }
  for (const char* amount : {"\"1e99\"", "1e300", "\"99999999999999999999999999\""}) {
    CAPTURE(amount);
    REQUIRE(gpus(amount));
    CHECK(gpus(amount)->allocatable.gpus() == codec::kLargestAmount);
  }
  CHECK(gpus("8.0")->allocatable.gpus() == 8);
}

TEST_CASE("the first of several fields with the same name counts everywhere") {
  const auto pod =
      codec::decodePod(R"({"metadata":{"name":"a","name":"b"},"spec":{"nodeName":"n1","nodeName":"n2"}})");
  REQUIRE(pod);
  CHECK(pod->key.name == "a");
  CHECK(pod->node.str() == "n1");
}

TEST_CASE("text that is no JSON is refused") {
  CHECK_FALSE(codec::decodePod(std::string_view()));
  for (const std::string_view text :
       {"", " ", "null", "7", "\"x\"", "{\"metadata\":{\"name\":\"a\"}} x", "{\"a\":\"\xff\"}",
        "{\"a\":\"\x01\"}", "{\"a\":\"\\ud800\"}", "{'a':1}", "{\"a\":1,}", "\xEF\xBB\xBF{"}) {
    CAPTURE(text);
    CHECK_FALSE(codec::decodePod(text));
    CHECK_FALSE(codec::decodeJob(text));
  }
}

TEST_CASE("an object cut off anywhere is refused") {
  for (std::size_t length = 0; length < kJob.size(); ++length) {
    REQUIRE_FALSE(codec::decodeJob(kJob.substr(0, length)));
  }
}

TEST_CASE("an object with bytes changed at random is refused or read without a crash") {
  static constexpr std::string_view kAlphabet = "{}[]\",:0123456789-.eE\\ntrufalse \x01\xff\xc3";
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    base::Rng rng(seed);
    std::string json(kJob);
    for (std::uint64_t changes = 1 + rng.below(3); changes > 0; --changes) {
      json[rng.below(json.size())] = kAlphabet[rng.below(kAlphabet.size())];
    }
    CAPTURE(seed);
    decodeWithAll(json);
  }
}

TEST_CASE("an object with values of the wrong type is refused or read without a crash") {
  static constexpr std::string_view kValues[] = {"null",
                                                 "true",
                                                 "-1",
                                                 "1e300",
                                                 "\"\"",
                                                 "\"x\"",
                                                 "[]",
                                                 "[null]",
                                                 "[[]]",
                                                 "{}",
                                                 "{\"a\":{}}",
                                                 "18446744073709551615",
                                                 "[{\"name\":null}]",
                                                 "-0.0"};
  // Every position where a value begins, taken from the text itself.
  std::vector<std::size_t> colons;
  for (std::size_t at = kJob.find("\":"); at != std::string_view::npos; at = kJob.find("\":", at + 1))
    colons.push_back(at + 2);
  for (const std::size_t begin : colons) {
    std::size_t end = begin;
    int depth = 0;
    bool inString = false;
    for (; end < kJob.size(); ++end) {
      const char c = kJob[end];
      if (c == '"') inString = !inString;
      if (inString) continue;
      if (c == '{' || c == '[') ++depth;
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
      if (c == '}' || c == ']') --depth;
    }
    for (const std::string_view value : kValues) {
      const std::string json = fmt::format("{}{}{}", kJob.substr(0, begin), value, kJob.substr(end));
      CAPTURE(json);
      decodeWithAll(json);
    }
  }
}
