#include "core/cycle/cycle_cache.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "core/cycle/cycle.h"
#include "core/place/node_refusals.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

model::Queue queueOf(const std::string& name, std::int64_t limit) {
  model::Queue queue;
  queue.name = model::QueueName(name);
  queue.limit.set("nvidia.com/gpu", limit);
  return queue;
}

// One node of 8 GPUs, and two jobs of 8.
core::CycleInput twoWaiting() {
  core::CycleInput input{
      .snapshot = cluster()
                      .add(node("n1").gpus(8))
                      .add(queueOf("m", 8))
                      .priorityClass("low", 1)
                      .priorityClass("high", 2)
                      .add(job("ml/a").role("worker", 1, requests(8, 1)).queue("m").priority("low"))
                      .add(job("ml/b").role("worker", 1, requests(8, 1)).queue("m").priority("high"))
                      .now(100)
                      .build()};
  input.otherFeedback.templateError = "";
  return input;
}

}  // namespace

TEST_CASE("cycle cache: queues that are added do not shift the jobs of others") {
  CycleInput input = twoWaiting();
  CycleCache cache;
  CHECK(cycle(input, cache) == cycle(input));
  auto& queues = input.snapshot.queues.edit();
  queues.insert(queues.begin(), std::make_shared<const model::Queue>(queueOf("a", 0)));
  CHECK(cycle(input, cache) == cycle(input));
}

TEST_CASE("cycle cache: the order of jobs follows the priority classes") {
  CycleInput input = twoWaiting();
  CycleCache cache;
  const auto started = [](const Plan& plan) {
    std::string names;
    for (const JobDecision& each : plan.decisions) {
      if (each.status && each.status->gang.proposal) names += each.job->key.name;
    }
    return names;
  };
  CHECK(started(cycle(input, cache)) == "b");
  for (auto& each : input.snapshot.priorityClasses.edit()) {
    auto other = std::make_shared<model::PriorityClass>(*each);
    other->value = -other->value;
    each = std::move(other);
  }
  CHECK(started(cycle(input, cache)) == "a");
}

TEST_CASE("node refusals: only a changed node is checked again") {
  const model::Snapshot before = cluster().add(node("n1")).add(node("n2")).build();
  const model::PodShape shape;
  NodeRefusals refusals;
  refusals.follow(before.nodes);
  CHECK(refusals.of(shape).mayUse(0, *before.nodes[0], shape));
  CHECK(refusals.of(shape).mayUse(1, *before.nodes[1], shape));

  model::Snapshot after = before;
  auto cordoned = std::make_shared<model::Node>(*before.nodes[1]);
  cordoned->unschedulable = true;
  after.nodes.edit()[1] = cordoned;
  refusals.follow(after.nodes);
  CHECK(refusals.of(shape).mayUse(0, *cordoned, shape));  // cached: the node is not checked again
  CHECK_FALSE(refusals.of(shape).mayUse(1, *cordoned, shape));

  CHECK(refusals.of(shape).mayBecomeOpen(1, *cordoned, shape));
  auto tainted = std::make_shared<model::Node>(*cordoned);
  tainted->taints.push_back({"dedicated", "others", model::TaintEffect::kNoSchedule});
  CHECK(refusals.of(shape).mayBecomeOpen(1, *tainted, shape));  // cached
  model::Snapshot later = after;
  later.nodes.edit()[1] = tainted;
  refusals.follow(later.nodes);
  CHECK_FALSE(refusals.of(shape).mayBecomeOpen(1, *tainted, shape));

  model::PodShape elsewhere;
  elsewhere.nodeSelector = model::Labels(std::vector<std::pair<std::string, std::string>>{{"pool", "other"}});
  CHECK_FALSE(refusals.of(elsewhere).mayUse(0, *after.nodes[0], elsewhere));
}

TEST_CASE("node refusals: long constraints use the cycle's bound by their length and only once") {
  const model::Snapshot snapshot = cluster().add(node("n1")).add(node("n2")).build();
  NodeRefusals refusals;
  refusals.follow(snapshot.nodes);
  model::PodShape shape;
  CHECK(refusals.of(shape).mayUse(0, *snapshot.nodes[0], shape));
  CHECK(refusals.takeWork() == 0);
  shape.affinity.emplace(1);
  for (int i = 0; i < 800; ++i)
    shape.affinity->front().labels.push_back(
        {fmt::format("k{}", i), model::SelectorOperator::kDoesNotExist, {}});
  for (int again = 0; again < 3; ++again) {
    for (std::size_t i = 0; i < 2; ++i) CHECK(refusals.of(shape).mayUse(i, *snapshot.nodes[i], shape));
  }
  // Beyond the first eight, each value costs as much as a node; and each question a little for its text.
  const std::int64_t asked = refusals.takeWork();
  CHECK(asked >= 2 * 792);
  CHECK(asked < 2 * 792 + 6 * 60);
  CHECK(refusals.takeWork() == 0);
}
