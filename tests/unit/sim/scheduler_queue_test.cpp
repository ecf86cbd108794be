#include <catch2/catch.hpp>

#include "sim/scheduler/queue.h"

namespace trainyard::sim {
namespace {

using namespace std::chrono_literals;
using Waits = SchedulingQueue::Waits;
using Event = SchedulingQueue::Event;

base::Instant at(std::chrono::milliseconds time) { return base::Instant(time); }

}  // namespace

TEST_CASE("pods are ordered by priority and then by age") {
  SchedulingQueue queue;
  queue.add(model::Uid("old"), 0, at(0ms));
  queue.add(model::Uid("high"), 5, at(1ms));
  queue.add(model::Uid("young"), 0, at(2ms));
  CHECK(queue.pop(at(3ms)) == model::Uid("high"));
  CHECK(queue.pop(at(3ms)) == model::Uid("old"));
  CHECK(queue.pop(at(3ms)) == model::Uid("young"));
  CHECK_FALSE(queue.pop(at(3ms)));
}

TEST_CASE("an error is tried again after a back-off that doubles up to ten seconds") {
  SchedulingQueue queue;
  const model::Uid pod("a");
  queue.add(pod, 0, at(0ms));
  auto now = at(0ms);
  for (const auto backoff : {1'000ms, 2'000ms, 4'000ms, 8'000ms, 10'000ms, 10'000ms}) {
    REQUIRE(queue.pop(now) == pod);
    queue.failed(pod, Waits::kBackoffOnly, now);
    CHECK(queue.nextDue(now) == now + backoff);
    CHECK_FALSE(queue.pop(now + backoff - 1ms));
    now += backoff;
  }
}

TEST_CASE("a pod without a node waits for capacity and for any event where an extender refused it") {
  SchedulingQueue queue;
  const model::Uid waitsForCapacity("room");
  const model::Uid byExtender("extender");
  queue.add(waitsForCapacity, 0, at(0ms));
  queue.add(byExtender, 0, at(0ms));
  REQUIRE(queue.pop(at(0ms)) == waitsForCapacity);
  queue.failed(waitsForCapacity, Waits::kForCapacity, at(0ms));
  REQUIRE(queue.pop(at(0ms)) == byExtender);
  queue.failed(byExtender, Waits::kForAnything, at(0ms));

  queue.happened(Event::kOther, at(5s));
  CHECK(queue.pop(at(5s)) == byExtender);
  CHECK_FALSE(queue.pop(at(5s)));
  queue.happened(Event::kCapacity, at(6s));
  CHECK(queue.pop(at(6s)) == waitsForCapacity);
}

TEST_CASE("an event during the back-off brings a pod back when that is over") {
  SchedulingQueue queue;
  const model::Uid pod("a");
  queue.add(pod, 0, at(0ms));
  REQUIRE(queue.pop(at(0ms)) == pod);
  queue.failed(pod, Waits::kForCapacity, at(0ms));
  queue.happened(Event::kCapacity, at(200ms));
  CHECK_FALSE(queue.pop(at(200ms)));
  CHECK(queue.nextDue(at(200ms)) == at(1s));
  CHECK(queue.pop(at(1s)) == pod);
}

TEST_CASE("a pod that nothing helps is tried again after five minutes") {
  SchedulingQueue queue;
  const model::Uid pod("a");
  queue.add(pod, 0, at(0ms));
  REQUIRE(queue.pop(at(0ms)) == pod);
  queue.failed(pod, Waits::kForCapacity, at(0ms));
  CHECK_FALSE(queue.pop(at(299s)));
  CHECK(queue.pop(at(300s)) == pod);
}

TEST_CASE("a pod that is removed does not return") {
  SchedulingQueue queue;
  const model::Uid pod("a");
  queue.add(pod, 0, at(0ms));
  REQUIRE(queue.pop(at(0ms)) == pod);
  queue.remove(pod);
  queue.failed(pod, Waits::kBackoffOnly, at(0ms));
  CHECK(queue.size() == 0);
  CHECK_FALSE(queue.pop(at(20s)));
}

}  // namespace trainyard::sim
