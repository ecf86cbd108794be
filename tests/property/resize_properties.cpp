// Sizes over time: adversarial arrivals and ends, and their permitted effect on elastic gangs.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/rng.h"
#include "core/forecast/instant_cycle.h"
#include "core/resize.h"
#include "model/gang_size.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

constexpr int kGpus = 4;

model::Job gang(const std::string& name, int members, std::int64_t now) {
  model::Job made = job(name).role("worker", members, gpus(1)).created(now);
  made.spec.preemptible = true;
  made.spec.templateHash = "t";
  made.status.gpus = members;
  return made;
}

model::Job elasticGang(const std::string& name, int minimum, int wish, int most, std::int64_t now) {
  model::Job made = gang(name, wish, now);
  made.spec.checkpoint = model::Checkpoint{.mode = model::CheckpointMode::kHelper};
  made.spec.elastic =
      model::Elastic{.role = "worker", .replicas = wish, .minReplicas = minimum, .maxReplicas = most};
  return made;
}

class World {
 public:
  explicit World(int nodes) : cycle_(begin(nodes)) {}

  void add(model::Job made) { cycle_.add(std::move(made)); }
  void end(const std::string& name) { cycle_.end(key(name)); }
  void pass(std::int64_t seconds) { cycle_.setTime(cycle_.snapshot().now + std::chrono::seconds(seconds)); }
  [[nodiscard]] std::int64_t now() const {
    return std::chrono::duration_cast<std::chrono::seconds>(cycle_.snapshot().now - at(0)).count();
  }
  [[nodiscard]] const model::Job& of(const std::string& name) const { return jobIn(cycle_.snapshot(), name); }
  [[nodiscard]] int members(const std::string& name) const {
    return of(name).status.gang.placed ? elasticMembers(of(name)) : 0;
  }
  [[nodiscard]] InstantCycle& cycle() { return cycle_; }

  std::vector<Change> decide() {
    std::vector<Change> all;
    for (int round = 0; round < 10; ++round) {
      auto outcome = cycle_.decide([this](const QueueTree&) {
        std::vector<SchedulableJob> waiting;
        for (const auto& each : cycle_.snapshot().jobs) {
          if (!each->status.gang.placed) waiting.push_back({each});
        }
        return waiting;
      });
      for (Change& each : outcome.changes) all.push_back(std::move(each));
      if (outcome.sizes) terms = outcome.sizes;
      checkCapacity();
      if (outcome.changes.empty()) break;
    }
    return all;
  }

  std::optional<SizeTerms> terms;

 private:
  static model::Snapshot begin(int nodes) {
    SnapshotBuilder made = cluster();
    for (int i = 0; i < nodes; ++i) made.add(node(fmt::format("n{}", i)).gpus(kGpus));
    made.now(1'000'000);
    return made.build();
  }

  void checkCapacity() const {
    std::map<model::NodeName, int> used;
    for (const auto& each : cycle_.snapshot().jobs) {
      if (!each->status.gang.placed) continue;
      std::set<int> indices;
      for (const model::Assignment& place : each->status.gang.placed->assignments) {
        for (const int index : place.indices.values()) {
          REQUIRE(indices.insert(index).second);
          ++used[place.node];
        }
      }
      REQUIRE(*indices.rbegin() + 1 == static_cast<int>(indices.size()));
      if (!each->spec.elastic) continue;
      REQUIRE(static_cast<int>(indices.size()) >= each->spec.elastic->minReplicas);
      REQUIRE(static_cast<int>(indices.size()) <= each->spec.elastic->maxReplicas);
    }
    for (const auto& [name, count] : used) REQUIRE(count <= kGpus);
  }

  InstantCycle cycle_;
};

}  // namespace

TEST_CASE("A gang grows onto idle capacity and gives it back to a job that arrives") {
  World world(2);
  world.add(elasticGang("ml/a", 1, 2, 8, world.now()));
  (void)world.decide();
  REQUIRE(world.members("ml/a") == 2);
  world.pass(400);
  (void)world.decide();
  REQUIRE(world.members("ml/a") == 8);
  REQUIRE(world.of("ml/a").status.resize.decidedBy == model::SizeOwner::kCluster);
  REQUIRE(world.terms);
  CHECK(world.terms->adjustments >= 1);
  world.add(gang("ml/b", 4, world.now()));
  (void)world.decide();
  REQUIRE(world.of("ml/b").status.gang.placed);
  REQUIRE(world.members("ml/a") == 4);
  REQUIRE(world.of("ml/a").status.preemptions.count == 0);
  // It does not grow back at once, because the other gang may return.
  world.end("ml/b");
  world.pass(10);
  (void)world.decide();
  REQUIRE(world.members("ml/a") == 4);
  world.pass(400);
  (void)world.decide();
  REQUIRE(world.members("ml/a") == 8);
}

TEST_CASE("A gang starts smaller when capacity is short and shrinks to its minimum and grows again") {
  World world(1);
  world.add(elasticGang("ml/a", 1, 3, 3, world.now()));
  (void)world.decide();
  world.pass(1);
  world.add(elasticGang("ml/b", 1, 3, 3, world.now()));
  (void)world.decide();
  REQUIRE(world.members("ml/a") == 3);
  REQUIRE(world.members("ml/b") == 1);
  world.pass(100);
  world.add(gang("ml/c", 2, world.now()));
  (void)world.decide();
  REQUIRE(world.of("ml/c").status.gang.placed);
  REQUIRE(world.members("ml/a") == 1);
  REQUIRE(world.members("ml/b") == 1);
  world.end("ml/c");
  (void)world.decide();
  // The gang that shrank is in its cooldown; the other one never had its desired size.
  REQUIRE(world.members("ml/b") == 3);
  REQUIRE(world.members("ml/a") == 1);
  world.end("ml/b");
  world.pass(400);
  (void)world.decide();
  REQUIRE(world.members("ml/a") == 3);
}

TEST_CASE("A gang shrinks by exactly what a pending job needs") {
  World world(2);
  world.add(elasticGang("ml/a", 1, 8, 8, world.now()));
  (void)world.decide();
  REQUIRE(world.members("ml/a") == 8);
  world.pass(100);
  world.add(gang("ml/b", 3, world.now()));
  (void)world.decide();
  REQUIRE(world.of("ml/b").status.gang.placed);
  REQUIRE(world.members("ml/a") == 5);
}

TEST_CASE("A gang shrinks to give a shorter job its desired size and an equal one only its minimum") {
  World world(2);
  world.add(elasticGang("ml/long", 1, 8, 8, world.now()));
  (void)world.decide();
  world.pass(100);
  world.add(elasticGang("ml/short", 1, 3, 3, world.now()));
  (void)world.decide();
  REQUIRE(world.members("ml/short") == 3);
  REQUIRE(world.members("ml/long") == 5);
  // No gang is expected to be shorter than this one: it gets no more than every gang must get.
  world.pass(100);
  world.add(elasticGang("ml/longest", 1, 8, 8, world.now()));
  (void)world.decide();
  REQUIRE(world.members("ml/longest") == 1);
  REQUIRE(world.members("ml/long") + world.members("ml/short") == 7);
}

TEST_CASE("Desired sizes come before what other gangs have beyond theirs") {
  World world(2);
  world.add(elasticGang("ml/a", 1, 2, 7, world.now()));
  (void)world.decide();
  world.pass(400);
  (void)world.decide();
  REQUIRE(world.members("ml/a") == 7);
  world.add(elasticGang("ml/b", 1, 1, 4, world.now()));
  (void)world.decide();
  REQUIRE(world.members("ml/b") == 1);
  world.pass(400);
  world.cycle().change(key("ml/b"), [](model::Job& asked) {
    asked.spec.elastic->replicas = 4;
    ++asked.generation;
  });
  (void)world.decide();
  REQUIRE(world.members("ml/a") == 4);
  REQUIRE(world.members("ml/b") == 4);
}

// Gangs arrive right after a gang grew, and end right after a gang shrank: the worst case.
TEST_CASE("Adversarial arrivals do not make sizes oscillate") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    base::Rng rng(seed);
    World world(static_cast<int>(rng.between(1, 4)));
    std::map<std::string, std::vector<std::int64_t>> growths;
    std::size_t shrinks = 0;
    const auto jobs = rng.between(1, 4);
    for (std::int64_t i = 0; i < jobs; ++i) {
      const int minimum = static_cast<int>(rng.between(1, 2));
      const int wish = minimum + static_cast<int>(rng.between(0, 2));
      world.add(elasticGang(fmt::format("ml/e{}", i), minimum, wish,
                            wish + static_cast<int>(rng.between(0, 4)), world.now()));
    }
    std::string rival;
    int rivals = 0;
    const std::int64_t begin = world.now();
    constexpr int kSteps = 120;
    for (int step = 0; step < kSteps; ++step) {
      const auto changes = world.decide();
      bool grew = false;
      bool shrank = false;
      for (const Change& each : changes) {
        REQUIRE(each.kind != ChangeKind::kPreempt);
        if (each.kind == ChangeKind::kGrow) growths[each.job->key.name].push_back(world.now());
        grew = grew || each.kind == ChangeKind::kGrow;
        shrank = shrank || each.kind == ChangeKind::kShrink;
        shrinks += each.kind == ChangeKind::kShrink ? 1U : 0U;
      }
      const bool waits = !rival.empty() && !world.of(rival).status.gang.placed;
      if (!rival.empty() && !waits && (shrank || rng.chance(1, 2))) {
        world.end(rival);
        rival.clear();
      } else if (rival.empty() && (grew || rng.chance(1, 4))) {
        rival = fmt::format("ml/r{}", ++rivals);
        world.add(gang(rival, static_cast<int>(rng.between(1, kGpus)), world.now()));
      }
      world.pass(rng.between(5, 60));
    }
    const std::int64_t cooldowns = (world.now() - begin) / 300 + 2;
    for (const auto& [name, times] : growths) {
      INFO("seed " << seed << ", " << name);
      // Apart from its start and its desired size, a gang grows once per cooldown.
      REQUIRE(static_cast<std::int64_t>(times.size()) <= 2 * cooldowns);
    }
    INFO("seed " << seed);
    REQUIRE(shrinks <= static_cast<std::size_t>(rivals) * static_cast<std::size_t>(jobs) +
                           static_cast<std::size_t>(cooldowns * jobs));
  }
}
