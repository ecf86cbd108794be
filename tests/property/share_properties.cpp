#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/rng.h"
#include "core/queues/fair_share.h"
#include "core/queues/holdings.h"
#include "core/queues/queue_share.h"
#include "core/queues/queue_tree.h"
#include "property/instant_cluster.h"
#include "property/queue_scene.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

// One child of a queue, in units of a resource.
struct Part {
  std::int64_t weight = 1;
  std::int64_t guaranteed = 0;
  std::int64_t most = 0;  // its demand within its limit
};

// Weighted max-min fairness of divisible goods: each part rises to one water level above its guarantee, or to
// its demand. The level is found by bisection.
std::vector<double> waterFill(const std::vector<Part>& parts, double total) {
  const auto at = [&](double level) {
    std::vector<double> amounts;
    for (const Part& part : parts) {
      const double most = static_cast<double>(part.most);
      const double sure = std::min(static_cast<double>(part.guaranteed), most);
      amounts.push_back(std::min(most, sure + level * static_cast<double>(part.weight)));
    }
    return amounts;
  };
  double low = 0;
  double high = total + 1;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    const std::vector<double> amounts = at(middle);
    (std::accumulate(amounts.begin(), amounts.end(), 0.0) > total ? high : low) = middle;
  }
  return at(low);
}

std::size_t gpuDimension(const QueueTree& tree) {
  const auto& names = tree.dimensions().names();
  const auto at = std::find(names.begin(), names.end(), model::names::kGpuResource);
  RC_ASSERT(at != names.end());
  return static_cast<std::size_t>(at - names.begin());
}

// Guarantees that the cluster can satisfy at every level, and limits that do not contradict them.
QueueScene sensible(QueueScene scene) {
  int capacity = std::accumulate(scene.nodes.begin(), scene.nodes.end(), 0);
  for (SceneQueue& queue : scene.queues) {
    queue.guaranteed = std::min(queue.guaranteed, capacity);
    capacity -= queue.guaranteed;
    queue.limit = -1;
  }
  return scene;
}

std::int64_t mostOf(const QueueTree& tree, QueueTree::Index index, std::size_t dimension,
                    const std::vector<std::int64_t>& demand) {
  const QueueTree::Node& node = tree.node(index);
  std::int64_t most = demand[index];
  for (const QueueTree::Index child : node.children) most += mostOf(tree, child, dimension, demand);
  return std::min(most, node.limit[dimension]);
}

// Every queue has more jobs of one GPU than it can ever run; the scene determines which of them run at first.
QueueScene saturated(QueueScene scene) {
  scene.nodes = {std::min(scene.nodes[0], 4)};
  scene.queues.resize(std::min<std::size_t>(scene.queues.size(), 4));
  scene = sensible(std::move(scene));
  const int capacity = std::accumulate(scene.nodes.begin(), scene.nodes.end(), 0);
  const auto first =
      scene.jobs.empty() ? 0 : static_cast<std::size_t>(scene.jobs[0].queue) % scene.queues.size();
  scene.jobs.clear();
  for (std::size_t queue = 0; queue < scene.queues.size(); ++queue) {
    scene.queues[queue].reclaim = true;
    for (int i = 0; i < 2 * capacity + 1; ++i) {
      scene.jobs.push_back({.queue = static_cast<int>(queue), .age = 20, .runs = queue == first});
    }
  }
  return scene;
}

// Below a common parent, no queue can gain a GPU from another one without that one falling behind it.
void requireFair(const model::Snapshot& snapshot) {
  const QueueTree tree(snapshot);
  const std::size_t gpu = gpuDimension(tree);
  Amounts one(tree.dimensions().size(), 0);
  one[gpu] = 1;
  // Queues with a pending job in them or below them.
  std::set<QueueTree::Index> waiting;
  for (const auto& job : snapshot.jobs) {
    const auto queue = tree.find(job->spec.queue);
    if (queue && !job->status.gang.placed)
      waiting.insert(tree.node(*queue).path.begin(), tree.node(*queue).path.end());
  }
  for (QueueTree::Index a = 1; a < tree.size(); ++a) {
    RC_ASSERT(tree.node(a).usage[gpu] <= tree.node(a).limit[gpu]);
    for (QueueTree::Index b = 1; b < tree.size(); ++b) {
      const QueueTree::Node& gains = tree.node(a);
      const QueueTree::Node& loses = tree.node(b);
      if (a == b || !waiting.contains(a) || gains.parent != loses.parent ||
          gains.usage[gpu] + 1 > gains.limit[gpu])
        continue;
      if (loses.usage[gpu] <= loses.guaranteed[gpu]) continue;
      RC_LOG() << fmt::format("{} has {}, {} has {}\n", gains.name, gains.usage[gpu], loses.name,
                              loses.usage[gpu]);
      RC_ASSERT(gains.usage[gpu] >= gains.guaranteed[gpu]);
      RC_ASSERT(shareWith(tree, a, one) > shareWithout(tree, b, one, one));
    }
  }
}

}  // namespace

TEST_CASE("fair shares equal those of water filling to the unit") {
  rc::prop("level by level", [](const QueueScene& raw) {
    const QueueScene scene = sensible(raw);
    const model::Snapshot snapshot = snapshotOf(scene);
    const QueueTree tree(snapshot);
    const std::size_t gpu = gpuDimension(tree);
    std::vector<std::int64_t> demand(tree.size(), 0);
    std::vector<std::int64_t> waiting(tree.size(), 0);
    for (const auto& job : snapshot.jobs) {
      const auto queue = tree.find(job->spec.queue);
      if (!queue) continue;
      const std::int64_t wanted = demandOf(tree.capacity(), *job)[gpu];
      demand[*queue] += wanted;
      if (!job->status.gang.placed) waiting[*queue] += wanted;
    }
    const std::vector<std::int64_t> shares = fairShares(tree, gpu, waiting);
    for (QueueTree::Index parent = 0; parent < tree.size(); ++parent) {
      const QueueTree::Node& node = tree.node(parent);
      if (node.children.empty()) continue;
      std::vector<Part> parts;
      for (const QueueTree::Index child : node.children) {
        parts.push_back(
            {tree.node(child).weight, tree.node(child).guaranteed[gpu], mostOf(tree, child, gpu, demand)});
      }
      // Its own jobs compete as one more child.
      if (demand[parent] > 0) parts.push_back({1, 0, demand[parent]});
      const double total = static_cast<double>(
          parent == QueueTree::kCluster ? tree.capacity().available()[gpu] : shares[parent]);
      const std::vector<double> exact = waterFill(parts, total);
      for (std::size_t i = 0; i < node.children.size(); ++i) {
        const QueueTree::Index child = node.children[i];
        RC_LOG() << fmt::format("{}: {} of {}, exactly {}\n", tree.node(child).name, shares[child], total,
                                exact[i]);
        RC_ASSERT(std::abs(static_cast<double>(shares[child]) - exact[i]) < 1 + 1e-6);
      }
    }
  });
}

TEST_CASE("shares converge by preemption when every queue demands more than its share") {
  rc::prop("reclaim", [](const QueueScene& raw) {
    InstantCluster cluster(snapshotOf(saturated(raw)));
    int steps = 0;
    do {
      cluster.pass(std::chrono::hours(1));
      RC_ASSERT(++steps < 200);
    } while (cluster.step());
    RC_CLASSIFY(cluster.stopped() > 0, "jobs were preempted");
    requireFair(cluster.snapshot());
  });
}

TEST_CASE("shares converge without preemption as jobs end") {
  rc::prop("jobs end one at a time", [](const QueueScene& raw, std::uint64_t seed) {
    QueueScene scene = saturated(raw);
    for (SceneQueue& queue : scene.queues) queue.reclaim = false;
    const int capacity = std::accumulate(scene.nodes.begin(), scene.nodes.end(), 0);
    InstantCluster cluster(snapshotOf(scene));
    base::Rng rng(seed);
    // Only the jobs that ran at the beginning end, in any order; the others stay.
    while (cluster.step()) {
    }
    std::vector<model::ObjectKey> first = cluster.running();
    RC_ASSERT(first.size() == static_cast<std::size_t>(capacity));
    while (!first.empty()) {
      const auto at = first.begin() + static_cast<std::ptrdiff_t>(rng.below(first.size()));
      cluster.end(*at);
      first.erase(at);
      cluster.pass(std::chrono::minutes(10));
      while (cluster.step()) {
      }
    }
    RC_ASSERT(cluster.stopped() == 0);
    requireFair(cluster.snapshot());
  });
}
