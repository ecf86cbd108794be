#include "core/queues/queue_tree.h"
#include "core/queues/holdings.h"

#include <catch2/catch.hpp>

#include "core/queues/decayed_usage.h"
#include "core/queues/queue_share.h"
#include "core/queues/quota_check.h"
#include "support/builders.h"
#include "support/gpu_resources.h"

namespace trainyard::core {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the builders

model::Queue queue(const std::string& name, const std::string& parent = "", std::int64_t guaranteed = 0) {
  model::Queue made;
  made.name = model::QueueName(name);
  made.parent = model::QueueName(parent);
  if (guaranteed > 0) made.guaranteed.set("nvidia.com/gpu", guaranteed);
  return made;
}

SnapshotBuilder threeNodes() { return cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).now(1000); }

QueueTree::Index indexOf(const QueueTree& tree, const std::string& name) {
  const auto found = tree.find(model::QueueName(name));
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("an inner queue is guaranteed what its children are guaranteed together") {
  const auto snapshot =
      threeNodes().add(queue("root")).add(queue("a", "root", 3)).add(queue("b", "root", 4)).build();
  const QueueTree tree(snapshot);
  CHECK(tree.node(indexOf(tree, "root")).guaranteed[0] == 7);
  CHECK(tree.node(indexOf(tree, "default")).queue == nullptr);
}

TEST_CASE("a queue without its parent or in a cycle names the field") {
  const auto snapshot =
      threeNodes().add(queue("a", "b")).add(queue("b", "a")).add(queue("c", "gone")).build();
  const QueueTree tree(snapshot);
  CHECK(tree.node(indexOf(tree, "a")).problemReason == "ParentCycle");
  CHECK(tree.node(indexOf(tree, "c")).problem == "spec.parent: there is no Queue named \"gone\"");
}

TEST_CASE("non-preemptible jobs must leave capacity for the guarantees of all queues") {
  const auto snapshot = threeNodes().add(queue("a", "", 10)).add(queue("b")).build();
  QueueTree tree(snapshot);
  Amounts more(tree.dimensions().size(), 0);
  more[0] = 6;
  CHECK_FALSE(beyondNonPreemptible(tree, indexOf(tree, "b"), more));
  more[0] = 7;
  CHECK(beyondNonPreemptible(tree, indexOf(tree, "b"), more));
  CHECK_FALSE(beyondNonPreemptible(tree, indexOf(tree, "a"), more));
}

TEST_CASE("which nodes have GPUs is read again once a queue is guaranteed some") {
  QueueCache cache;
  const model::Job gang = job("ml/gang").role("worker", 1, requests(1, 4));
  const auto held = [&](const model::Snapshot& snapshot) {
    const std::vector<model::Assignment> assignments = {
        {model::NodeName("n2"), "worker", model::IndexSet({0})}};
    const auto amounts = heldBy(QueueTree(snapshot).capacity(), gang, assignments);
    CHECK(heldBy(QueueTree(snapshot, cache).capacity(), gang, assignments) == amounts);
    return amounts;
  };
  const auto guaranteed = [](model::Snapshot snapshot) {
    snapshot.queues.edit().push_back(std::make_shared<const model::Queue>(queue("a", "", 4)));
    return snapshot;
  };
  const auto without = cluster().add(node("n1").gpus(8)).add(node("n2").gpus(0)).now(1000).build();
  const auto with = cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).now(1000).build();
  const auto before = held(guaranteed(without));
  held(with);
  CHECK(held(guaranteed(with)) != before);
}

TEST_CASE("pods of no TrainingJob are charged to the queue of their namespace if the policy states it") {
  model::Queue tools = queue("tools");
  tools.namespaceSelector.requirements = {{"team", model::SelectorOperator::kIn, {"tools"}}};
  auto snapshot = threeNodes()
                      .add(tools)
                      .add(pod("notebooks/one").on("n1").gpus(2).phase(model::PodPhase::kRunning))
                      .add(pod("elsewhere/two").on("n2").gpus(3).phase(model::PodPhase::kRunning))
                      .build();
  auto space = std::make_shared<model::Namespace>();
  space->name = "notebooks";
  space->labels = model::Labels(std::vector<std::pair<std::string, std::string>>{{"team", "tools"}});
  snapshot.namespaces.edit().push_back(space);
  CHECK(QueueTree(snapshot).node(indexOf(QueueTree(snapshot), "tools")).usage[0] == 0);
  snapshot.policy.chargeOtherPods = true;
  const QueueTree tree(snapshot);
  CHECK(tree.node(indexOf(tree, "tools")).usage[0] == 2);
  CHECK(tree.node(indexOf(tree, "tools")).nonPreemptible[0] == 2);
}

TEST_CASE("with a half-life the queue that used less is served first though both hold nothing now") {
  model::Queue greedy = queue("greedy");
  greedy.status.decayedUsage.set("nvidia.com/gpu", 100'000);
  const auto now = threeNodes().build().now;
  greedy.status.decayedAt = now;
  auto snapshot = threeNodes().add(greedy).add(queue("modest")).build();
  const auto headStart = [&] {
    const QueueTree tree(snapshot);
    const Amounts none(tree.dimensions().size(), 0);
    const auto compared = comparedBranches(tree, indexOf(tree, "modest"), indexOf(tree, "greedy"));
    return comparedShare(tree, compared.b, none) - comparedShare(tree, compared.a, none);
  };
  CHECK(headStart() == 0);
  snapshot.policy.usageHalfLife = std::chrono::hours(24);
  CHECK(headStart() > 0);
}

TEST_CASE("decayed usage halves every half-life and converges to constant usage") {
  using namespace std::chrono_literals;
  model::QueueStatus status;
  const base::WallTime start{std::chrono::seconds(5000)};
  CHECK(decayedUsage(status, "cpu", 7, start, 1h) == 0);
  status.decayedAt = start;
  status.decayedUsage.set("cpu", 1'000'000);
  CHECK(decayedUsage(status, "cpu", 0, start + 1h, 1h) == 500'000);
  CHECK(averageUse(decayedUsage(status, "cpu", 7, start + 100h, 1h), 1h) == 7);
}

TEST_CASE("each GPU resource is a dimension of its own and shares go by the largest") {
  const GpuResources setting({"nvidia.com/gpu", "amd.com/gpu"});
  model::Resources four;
  four.pods = 1;
  four.setExtended("amd.com/gpu", 4);
  const auto snapshot =
      threeNodes()
          .add(node("n3").extended("amd.com/gpu", 8))
          .add(queue("a", "", 3))
          .add(queue("b"))
          .add(job("ml/bert").queue("b").role("worker", 1, four).placed("n3", "worker", "0"))
          .build();
  const QueueTree tree(snapshot);
  REQUIRE(tree.dimensions().cpu() == 2);
  CHECK(tree.dimensions().names()[1] == "amd.com/gpu");
  CHECK(tree.dimensions().counts(1));
  CHECK(tree.capacity().available()[0] == 16);
  CHECK(tree.capacity().available()[1] == 8);
  CHECK(tree.node(indexOf(tree, "b")).usage[1] == 4);
  CHECK(shareWith(tree, indexOf(tree, "b"), Amounts(tree.dimensions().size(), 0)) == 500'000'000'000);
}

}  // namespace trainyard::core
