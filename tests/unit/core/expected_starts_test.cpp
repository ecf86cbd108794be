#include "core/timeline/expected_starts.h"

#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "core/cycle/cycle_cache.h"
#include "core/queues/queue_tree.h"
#include "core/schedule/schedule.h"
#include "model/conditions.h"
#include "support/builders.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

using std::chrono::seconds;

constexpr std::int64_t kNow = 1'000;

// Has run on the node since kNow - 10, and ends at `end`; 0: has no estimate.
model::Job running(std::string_view name, std::string_view node, std::int64_t end) {
  model::Job made = job(name).role("worker", 1, gpus(8)).placed(node, "worker", "0").condition("Scheduled");
  made.status.conditions.back().lastTransition = at(kNow - 10);
  if (end > 0) made.spec.estimatedDuration = seconds(end - (kNow - 10));
  return made;
}

model::Job waiting(std::string_view name, int replicas, std::int64_t created, std::int64_t estimate = 0) {
  model::Job made = job(name).role("worker", replicas, gpus(8)).created(created).condition("Queued");
  made.status.conditions.back().lastTransition = at(kNow - 5);
  if (estimate > 0) made.spec.estimatedDuration = seconds(estimate);
  return made;
}

// The estimated starts of pending jobs, in seconds; 0: none is reported.
std::map<std::string, std::int64_t> estimatedStarts(model::Snapshot snapshot) {
  snapshot.policy.ordering = model::Ordering::kFifo;
  core::CycleCache cache;
  cache.begin(snapshot);
  core::Ledger& ledger = cache.ledger();
  core::QueueTree queues(snapshot);
  std::vector<core::SchedulableJob> asking;
  for (const auto& each : snapshot.jobs) {
    if (!each->status.gang.placed && !each->status.gang.proposal) asking.push_back({each});
  }
  const auto before = ledger.nodes();
  const core::Schedule schedule = core::schedule({.snapshot = snapshot,
                                                  .ledger = ledger,
                                                  .domains = cache.domains(),
                                                  .queues = queues,
                                                  .cache = cache.schedule(),
                                                  .reservedSince = cache.reservedSince(),
                                                  .waiting = std::move(asking),
                                                  .maxStartingMembers = 1'000});
  CHECK(schedule.changes.empty());
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(ledger.nodes()[i].free == before[i].free);
  std::map<std::string, std::int64_t> starts;
  for (const core::GangWait& wait : schedule.waits) {
    const auto& start = wait.pending->estimatedStart;
    starts[wait.job->key.name] = start ? std::chrono::duration_cast<seconds>(*start - at(0)).count() : 0;
  }
  return starts;
}

SnapshotBuilder nodes(int count) {
  SnapshotBuilder made = cluster().now(kNow);
  for (int i = 1; i <= count; ++i) made.add(node("n" + std::to_string(i)).gpus(8));
  return made;
}

}  // namespace

TEST_CASE("jobs behind the first one have expected starts beside it") {
  const auto starts = estimatedStarts(nodes(3)
                                          .add(running("a", "n1", 1'100))
                                          .add(running("b", "n2", 1'200))
                                          .add(running("c", "n3", 1'300))
                                          .add(waiting("first", 2, 1))
                                          .add(waiting("second", 1, 2))
                                          .add(waiting("third", 1, 3)));
  CHECK(starts == std::map<std::string, std::int64_t>{{"first", 1'200}, {"second", 1'300}, {"third", 0}});
}

TEST_CASE("jobs ahead are expected to end by their own estimates") {
  const auto starts = estimatedStarts(nodes(2)
                                          .add(running("a", "n1", 1'100))
                                          .add(running("b", "n2", 1'200))
                                          .add(waiting("first", 2, 1, 50))
                                          .add(waiting("second", 2, 2, 70))
                                          .add(waiting("third", 1, 3, 10))
                                          .add(waiting("fourth", 1, 4))
                                          .add(waiting("fifth", 1, 5)));
  CHECK(starts ==
        std::map<std::string, std::int64_t>{
            {"first", 1'200}, {"second", 1'250}, {"third", 1'320}, {"fourth", 1'320}, {"fifth", 1'330}});
}

TEST_CASE("no start is expected behind a gang without an estimate") {
  const auto starts = estimatedStarts(nodes(2)
                                          .add(running("a", "n1", 0))
                                          .add(running("b", "n2", 1'200))
                                          .add(waiting("first", 2, 1))
                                          .add(waiting("second", 1, 2)));
  CHECK(starts == std::map<std::string, std::int64_t>{{"first", 0}, {"second", 0}});
}

TEST_CASE("the capacity of a victim is its preemptor's until the preemptor ends") {
  model::Job victim = running("victim", "n1", 5'000);
  const model::Pod held = pod("").memberOf(victim, "worker", 0).gpus(8).on("n1");
  victim.status.gang.proposal.emplace().kind = model::ProposalKind::kRestart;
  model::Job preemptor = job("claiming")
                             .role("worker", 1, gpus(6))
                             .proposes("n1", "worker", "0", model::ProposalPhase::kClaiming)
                             .victim(held);
  preemptor.spec.estimatedDuration = seconds(400);
  SnapshotBuilder claimed = nodes(2).add(victim).add(held).add(preemptor).add(running("b", "n2", 9'000));
  using Starts = std::map<std::string, std::int64_t>;
  SECTION("a job that needs the whole node waits for both") {
    CHECK(estimatedStarts(claimed.add(waiting("whole", 1, 1))) == Starts{{"whole", kNow + 400}});
  }
  SECTION("a job that fits beside the preemptor waits for the victim") {
    model::Job rest = waiting("rest", 1, 1);
    rest.spec.roles.front().shape.requests = gpus(2);
    CHECK(estimatedStarts(claimed.add(rest)) == Starts{{"rest", kNow + 10}});
  }
}

TEST_CASE("a shown estimate stays while it is about right") {
  model::Job shown = waiting("first", 1, 1);
  const auto now = at(kNow);
  CHECK(core::steadyEstimate(shown, at(kNow + 100), now) == at(kNow + 100));
  shown.status.pending = model::Pending{};
  shown.status.pending->estimatedStart = at(kNow + 95);
  CHECK(core::steadyEstimate(shown, at(kNow + 100), now) == at(kNow + 95));
  CHECK(core::steadyEstimate(shown, at(kNow + 120), now) == at(kNow + 120));
  CHECK_FALSE(core::steadyEstimate(shown, std::nullopt, now));
  shown.status.pending->estimatedStart = at(kNow - 1);
  CHECK(core::steadyEstimate(shown, at(kNow + 1), now) == at(kNow + 1));
}

namespace {

model::Queue limited(std::string_view name, std::int64_t limit, std::string_view parent = "") {
  model::Queue queue;
  queue.name = model::QueueName(std::string(name));
  queue.parent = model::QueueName(std::string(parent));
  queue.limit.set("nvidia.com/gpu", limit);
  return queue;
}

}  // namespace

TEST_CASE("a job that waits for the limit of its queue reports when enough below it has ended") {
  const auto inQueue = [](model::Job made) {
    made.spec.queue = model::QueueName("team");
    return made;
  };
  SnapshotBuilder scene = nodes(6).add(limited("team", 24));
  scene.add(inQueue(running("early", "n1", 1'100))).add(inQueue(running("late", "n2", 1'400)));
  SECTION("and those behind it one after another, each by the ends before it") {
    const auto starts = estimatedStarts(scene.add(inQueue(waiting("first", 2, 1, 200)))
                                            .add(inQueue(waiting("second", 2, 2, 100)))
                                            .add(inQueue(waiting("third", 2, 3, 100))));
    CHECK(starts.at("first") == 1'100);
    CHECK(starts.at("second") == 1'300);
    CHECK(starts.at("third") == 1'400);
  }
  SECTION("or when its nodes are free, if that is later") {
    scene.add(running("other", "n3", 1'600))
        .add(running("more", "n4", 1'600))
        .add(running("n5", "n5", 1'600));
    const auto starts =
        estimatedStarts(scene.add(running("n6", "n6", 1'600)).add(inQueue(waiting("first", 3, 1, 200))));
    CHECK(starts.at("first") == 1'600);
  }
  SECTION("but not where an end before it is a mere guess") {
    const auto starts = estimatedStarts(scene.add(inQueue(running("forever", "n3", 0)))
                                            .add(inQueue(waiting("first", 3, 1, 200)))
                                            .add(inQueue(waiting("second", 1, 2, 100))));
    CHECK(starts.at("first") == 0);
    CHECK(starts.at("second") == 0);
  }
}
