#include "codec/queue.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codec/field.h"
#include "codec/json_value.h"
#include "codec/json_writer.h"
#include "codec/namespace.h"
#include "codec/priority_class.h"
#include "codec/quota.h"

using namespace trainyard;
using model::SelectorOperator;

namespace {

model::Queue decoded(std::string_view spec, std::string_view status = "{}") {
  const auto queue = codec::decodeQueue(
      fmt::format(R"({{"metadata":{{"name":"a","uid":"q1","resourceVersion":"7","generation":2}},)"
                  R"("spec":{},"status":{}}})",
                  spec, status));
  REQUIRE(queue);
  return *queue;
}

std::string specError(std::string_view spec) { return decoded(spec).specError; }

}  // namespace

TEST_CASE("quotas and the amounts of a status know every native resource") {
  model::forEachNative([](const auto& native) {
    CAPTURE(native.name);
    const model::Queue queue = decoded(fmt::format(R"({{"guaranteed":{{"{}":"3"}}}})", native.name));
    CHECK(queue.specError.empty());
    const std::int64_t three = native.unit == model::ResourceUnit::kMillicores ? 3'000 : 3;
    CHECK(queue.guaranteed.amount(native.name) == three);
    model::Resources amounts;
    native.in(amounts) = three;
    codec::JsonWriter out;
    codec::writeAmounts(amounts, out);
    const std::string json = std::move(out).take();
    CAPTURE(json);
    const auto document = codec::JsonDocument::parse(json);
    REQUIRE(document);
    codec::FieldErrors errors;
    CHECK(codec::readWrittenAmounts(codec::Field(document->root(), errors)) == amounts);
  });
}

TEST_CASE("a queue is read whole") {
  const model::Queue queue = decoded(R"({"parent":"research","weight":3,
      "guaranteed":{"cpu":"1500m","memory":"512Gi","nvidia.com/gpu":16,
                    "gpu-type.trainyard.dev/NVIDIA-A100-SXM4-80GB":"8"},
      "limit":{"nvidia.com/gpu":"32","memory":"1Ti","pods":0},
      "preemption":{"reclaim":false,"withinQueue":"Never"},
      "namespaceSelector":{"matchLabels":{"team":"vision"},
        "matchExpressions":[{"key":"tier","operator":"NotIn","values":["x","y"]},
                            {"key":"gpu","operator":"Exists"},{"key":"guest","operator":"DoesNotExist"}]}})");
  CHECK(queue.specError.empty());
  CHECK(queue.name.str() == "a");
  CHECK(queue.uid.str() == "q1");
  CHECK(queue.resourceVersion == "7");
  CHECK(queue.generation == 2);
  CHECK(queue.parent.str() == "research");
  CHECK(queue.weight == 3);
  CHECK(queue.guaranteed == model::Quota({{"cpu", 1500},
                                          {"memory", std::int64_t{512} << 30},
                                          {"nvidia.com/gpu", 16},
                                          {"gpu-type.trainyard.dev/NVIDIA-A100-SXM4-80GB", 8}}));
  CHECK(queue.limit ==
        model::Quota({{"nvidia.com/gpu", 32}, {"memory", std::int64_t{1} << 40}, {"pods", 0}}));
  CHECK_FALSE(queue.reclaim);
  CHECK(queue.withinQueue == model::WithinQueue::kNever);
  CHECK(queue.namespaceSelector.requirements ==
        std::vector<model::SelectorRequirement>{{"team", SelectorOperator::kIn, {"vision"}},
                                                {"tier", SelectorOperator::kNotIn, {"x", "y"}},
                                                {"gpu", SelectorOperator::kExists, {}},
                                                {"guest", SelectorOperator::kDoesNotExist, {}}});
}

TEST_CASE("an empty spec is a root of weight 1 for all namespaces without limits") {
  const model::Queue queue = decoded("{}");
  CHECK(queue.specError.empty());
  CHECK(queue.parent.empty());
  CHECK(queue.weight == 1);
  CHECK(queue.guaranteed.empty());
  CHECK(queue.limit.empty());
  CHECK(queue.reclaim);
  CHECK(queue.withinQueue == model::WithinQueue::kLowerPriority);
  CHECK(queue.namespaceSelector.requirements.empty());
  CHECK(queue.status == model::QueueStatus());
}

TEST_CASE("an unusable spec is an error that names the field") {
  const auto [spec, says] = GENERATE(table<std::string, std::string>({
      {R"({"weight":"3"})", R"(spec.weight: expected an integer, is "3")"},
      {R"({"weight":0})", "spec.weight: must be from 1 to 1000000, is 0"},
      {R"({"weight":1e300})", "spec.weight: expected an integer, is 1e+300"},
      {R"({"parent":"a"})", R"(spec.parent: must be another queue, is "a")"},
      {R"({"parent":["b"]})", R"(spec.parent: expected a string, is ["b"])"},
      {R"({"limit":{"nvidia.com/gpu":"1.5"}})",
       R"(spec.limit[nvidia.com/gpu]: must be a whole number, is "1.5")"},
      {R"({"limit":{"nvidia.com/gpu":-1}})", "spec.limit[nvidia.com/gpu]: must not be negative, is -1"},
      {R"({"limit":{"nvidia.com/gpu":null}})", "spec.limit[nvidia.com/gpu]: is required"},
      {R"({"limit":{"cpu":true}})", "spec.limit[cpu]: expected a quantity, is true"},
      {R"({"limit":{"nvidia.com/gpu":"10P"}})",
       R"(spec.limit[nvidia.com/gpu]: quantity "10P": out of range)"},
      {R"({"guaranteed":{"nvidia.com/gpu":8},"limit":{"nvidia.com/gpu":4}})",
       "spec.guaranteed: nvidia.com/gpu must not be above spec.limit"},
      {R"({"limit":{"gpu-type.trainyard.dev/":4}})",
       "spec.limit[gpu-type.trainyard.dev/]: must be gpu-type.trainyard.dev/ and a type of GPU as nodes are "
       "labelled with it"},
      {R"({"limit":{"gpu-type.trainyard.dev/A 100":4}})",
       "spec.limit[gpu-type.trainyard.dev/A 100]: must be gpu-type.trainyard.dev/ and a type of GPU as nodes "
       "are labelled with it"},
      {R"({"preemption":{"withinQueue":"Always"}})",
       R"(spec.preemption.withinQueue: must be Never or LowerPriority, is "Always")"},
      {R"({"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]}})",
       R"(spec.namespaceSelector.matchExpressions[0].operator: must be In, NotIn, Exists or DoesNotExist, is "Gt")"},
      {R"({"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"In"}]}})",
       "spec.namespaceSelector.matchExpressions[0].values: must be given with operator In or NotIn, and only "
       "then"},
      {R"({"namespaceSelector":{"matchExpressions":[{"operator":"Exists"}]}})",
       "spec.namespaceSelector.matchExpressions[0].key: is required"},
  }));
  CHECK(specError(spec) == says);
}

TEST_CASE("names that no pod can be charged for are refused") {
  for (const char* name : {"gpu", "storage", "requests.nvidia.com/gpu", "/gpu", "nvidia.com/", "a/b/c"}) {
    CAPTURE(name);
    CHECK_THAT(specError(fmt::format(R"({{"guaranteed":{{"{}":1}}}})", name)),
               Catch::Contains("is not a resource that pods request"));
  }
}

TEST_CASE("quantities beyond all measure are refused and not wrapped") {
  for (const char* amount : {R"("1e99")", R"("99999999999Pi")", "1e99", R"("NaN")", R"("")", R"("1x")"}) {
    CAPTURE(amount);
    CHECK_THAT(specError(fmt::format(R"({{"limit":{{"memory":{}}}}})", amount)),
               Catch::StartsWith("spec.limit[memory]: "));
  }
}

TEST_CASE("a queue without a name is refused") {
  CHECK(codec::decodeQueue(R"({"metadata":{},"spec":{}})").error().message ==
        "queue: metadata.name: is required");
}

TEST_CASE("a queue's status decodes to what was encoded") {
  model::QueueStatus status;
  status.observedGeneration = 2;
  status.usage = model::Quota({{"cpu", 1500},
                               {"memory", (std::int64_t{3} << 30) + 1},
                               {"ephemeral-storage", std::int64_t{3} << 30},
                               {"nvidia.com/gpu", 0},
                               {"gpu-type.trainyard.dev/H100", 8}});
  status.decayedUsage =
      model::Quota({{"cpu", INT64_MAX}, {"memory", INT64_MAX}, {"nvidia.com/gpu", INT64_MAX}});
  status.decayedAt = base::WallTime(std::chrono::microseconds(1'700'000'000'123'456));
  status.share = 250;
  status.fairShare = 333;
  status.waiting = 3;
  status.conditions = {{"Ready", model::ConditionStatus::kFalse, "ParentNotFound", "no queue \"x\"",
                        base::WallTime(std::chrono::seconds(1'700'000'000)), 2}};
  const std::string text = codec::encodeQueueStatus(status);
  CHECK(
      text ==
      R"({"observedGeneration":2,"usage":{"cpu":"1500m","ephemeral-storage":"3Gi",)"
      R"("gpu-type.trainyard.dev/H100":"8","memory":"3221225473","nvidia.com/gpu":"0"},)"
      R"("decayedUsage":{"cpu":"9223372036854775807m","memory":"9223372036854775807",)"
      R"("nvidia.com/gpu":"9223372036854775807"},"decayedAt":"2023-11-14T22:13:20.123456Z",)"
      R"("share":250,"fairShare":333,"waiting":3,"placed":0,)"
      R"("conditions":[{"type":"Ready","status":"False","reason":"ParentNotFound",)"
      R"("message":"no queue \"x\"","lastTransitionTime":"2023-11-14T22:13:20Z","observedGeneration":2}]})");
  CHECK(decoded("{}", text).status == status);
}

TEST_CASE("a queue's status has one sum of GPUs and a missing limit stays missing") {
  model::QueueStatus status;
  status.gpus = model::QueueGpus{.used = 8, .guaranteed = 16};
  const std::string text = codec::encodeQueueStatus(status);
  CHECK_THAT(text, Catch::Contains(R"("gpus":{"used":8,"guaranteed":16})"));
  CHECK(decoded("{}", text).status == status);
  status.gpus->limit = 0;
  CHECK(decoded("{}", codec::encodeQueueStatus(status)).status == status);
}

TEST_CASE("a status that cannot be read counts as not written") {
  for (const char* status : {R"({"usage":{"cpu":"lots"}})", R"({"waiting":-1})", R"({"share":"7"})", "[]"}) {
    CAPTURE(status);
    const model::Queue queue = decoded(R"({"weight":5})", status);
    CHECK(queue.weight == 5);
    CHECK(queue.specError.empty());
    CHECK(queue.status == model::QueueStatus());
  }
}

TEST_CASE("a status patch holds what changed and is guarded by the version") {
  model::Queue queue = decoded("{}");
  model::QueueStatus after;
  CHECK(codec::encodeQueueStatusPatch(queue, after) ==
        R"({"metadata":{"resourceVersion":"7"},"status":{"observedGeneration":0,"share":0,"fairShare":0,)"
        R"("waiting":0,"placed":0}})");
  queue.status.usage.set("nvidia.com/gpu", 8);
  queue.status.usage.set("cpu", 1000);
  after = queue.status;
  CHECK_FALSE(codec::encodeQueueStatusPatch(queue, after));
  after.usage = model::Quota({{"nvidia.com/gpu", 16}});
  after.waiting = 2;
  CHECK(codec::encodeQueueStatusPatch(queue, after) ==
        R"({"metadata":{"resourceVersion":"7"},"status":{"usage":{"nvidia.com/gpu":"16","cpu":null},)"
        R"("waiting":2}})");
}

TEST_CASE("a namespace is its labels") {
  const auto space = codec::decodeNamespace(
      R"({"metadata":{"name":"ml","uid":"u","labels":{"team":"vision"}},"status":{"phase":"Active"}})");
  REQUIRE(space);
  CHECK(space->name == "ml");
  CHECK(space->uid.str() == "u");
  REQUIRE(space->labels.find("team") != nullptr);
  CHECK(*space->labels.find("team") == "vision");
  CHECK(codec::decodeNamespace(R"({"metadata":{"name":"ml","labels":{"a":1}}})").error().message ==
        "namespace ml: metadata.labels[a]: expected a string, is 1");
}

TEST_CASE("a priority class is projected") {
  const auto found =
      codec::decodePriorityClass(R"({"metadata":{"name":"high"},"value":1000,"globalDefault":true})");
  REQUIRE(found);
  CHECK(found->name == "high");
  CHECK(found->value == 1000);
  CHECK(found->globalDefault);
  CHECK(codec::decodePriorityClass(R"({"metadata":{"name":"low"},"value":1e3})").error().message ==
        "priority class low: value: expected an integer, is 1000.0");
}
