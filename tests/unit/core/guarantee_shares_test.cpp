#include "core/queues/guarantee_shares.h"

#include <catch2/catch.hpp>

#include "base/rng.h"
#include "support/builders.h"
#include "support/gpu_resources.h"

namespace trainyard::core {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the builders

struct Guarantee {
  std::string name;
  std::int64_t gpus = 0;
  std::int64_t cores = 0;
  std::string parent = {};
};

model::Queue queueOf(const Guarantee& guarantee) {
  model::Queue queue;
  queue.name = model::QueueName(guarantee.name);
  queue.parent = model::QueueName(guarantee.parent);
  if (guarantee.gpus > 0) queue.guaranteed.set("nvidia.com/gpu", guarantee.gpus);
  if (guarantee.cores > 0) queue.guaranteed.set("cpu", guarantee.cores * 1000);
  return queue;
}

// One node with 8 GPUs and 64 cores, and `coresElsewhere` on a node without GPUs.
QueueTree treeOf(const std::vector<Guarantee>& guarantees, std::int64_t coresElsewhere = 0) {
  auto cluster = test::cluster().add(node("n1").gpus(8).cpu(64)).now(1000);
  if (coresElsewhere > 0) cluster.add(node("c1").gpus(0).cpu(coresElsewhere));
  for (const Guarantee& each : guarantees) cluster.add(queueOf(each));
  return QueueTree(cluster.build());
}

std::int64_t coresOf(const QueueTree& tree, const std::string& queue) {
  const auto beside = tree.dimensions().gpuNodeResourceOf(tree.dimensions().cpu());
  REQUIRE(beside);
  return GuaranteeShares(tree).covered(*tree.find(model::QueueName(queue)), *beside);
}

}  // namespace

TEST_CASE("cores beside GPUs are divided in proportion to the GPUs") {
  const QueueTree tree = treeOf({{"g1", 2}, {"g2", 5}});
  CHECK(coresOf(tree, "g1") == 16'000);
  CHECK(coresOf(tree, "g2") == 40'000);
}

TEST_CASE("cores beside GPUs are divided after those that are guaranteed by name") {
  const QueueTree tree = treeOf({{"named", 0, 32}, {"g1", 4}, {"g2", 4}});
  CHECK(coresOf(tree, "named") == 32'000);
  CHECK(coresOf(tree, "g1") == 16'000);
  CHECK(coresOf(tree, "g2") == 16'000);
}

TEST_CASE("what nodes without GPUs have is not needed on nodes with GPUs") {
  const QueueTree enough = treeOf({{"named", 0, 32}, {"g", 8}}, 64);
  CHECK(coresOf(enough, "named") == 0);
  CHECK(coresOf(enough, "g") == 64'000);
  const QueueTree tooFew = treeOf({{"x", 0, 60}, {"y", 0, 20}, {"g", 8}}, 64);
  CHECK(coresOf(tooFew, "x") == 12'000);
  CHECK(coresOf(tooFew, "y") == 4'000);
  CHECK(coresOf(tooFew, "g") == 48'000);
}

TEST_CASE("a queue with both guarantees has the larger part, not both") {
  const QueueTree tree = treeOf({{"both", 4, 8}, {"g", 4}});
  CHECK(coresOf(tree, "both") == 32'000);
  CHECK(coresOf(tree, "g") == 32'000);
}

TEST_CASE("cores that a parent is guaranteed by name are beside the GPUs of the queues below it") {
  const QueueTree tree = treeOf({{"p", 0, 64}, {"c1", 4, 0, "p"}, {"c2", 4, 0, "p"}});
  CHECK(coresOf(tree, "p") == 64'000);
  CHECK(coresOf(tree, "c1") == 32'000);
}

TEST_CASE("a queue is covered for no more of a resource than it names") {
  model::Queue x = queueOf({"x", 0, 2});
  x.guaranteed.set("memory", 70LL << 30U);
  const auto snapshot =
      cluster().add(node("n1").gpus(8).cpu(32).memoryGi(100)).now(1000).add(x).add(queueOf({"a", 8})).build();
  const QueueTree tree(snapshot);
  CHECK(coresOf(tree, "x") == 2'000);
  CHECK(coresOf(tree, "a") == 30'000);
}

TEST_CASE("no more cores beside GPUs are covered than there are, whatever is guaranteed") {
  base::Rng rng(7);
  for (int draw = 0; draw < 500; ++draw) {
    std::vector<Guarantee> guarantees;
    std::int64_t gpus = 8;
    std::int64_t cores = 64;
    for (int i = 0; i < 6; ++i) {
      const std::string parent = i > 1 && rng.below(2) == 0 ? "q" + std::to_string(rng.below(2)) : "";
      const auto ofGpus = static_cast<std::int64_t>(rng.below(4));
      const auto ofCores = static_cast<std::int64_t>(rng.below(2) * rng.below(20));
      guarantees.push_back(
          {"q" + std::to_string(i), std::min(ofGpus, gpus), std::min(ofCores, cores), parent});
      gpus -= guarantees.back().gpus;
      cores -= guarantees.back().cores;
    }
    const QueueTree tree = treeOf(guarantees);
    const auto beside = tree.dimensions().gpuNodeResourceOf(tree.dimensions().cpu());
    if (!beside) continue;
    const GuaranteeShares shares(tree);
    CHECK(shares.covered(QueueTree::kCluster, *beside) <= 64'000);
    for (QueueTree::Index i = 0; i < tree.size(); ++i) {
      std::int64_t below = 0;
      for (const auto child : tree.node(i).children) below += shares.covered(child, *beside);
      CHECK(below <= shares.covered(i, *beside) + 6);  // each is rounded down, in millicores
    }
  }
}

}  // namespace trainyard::core
