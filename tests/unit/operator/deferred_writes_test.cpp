#include "operator/deferred_writes.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using trainyard::base::Instant;
using trainyard::core::DeferredStatus;
using trainyard::model::ObjectKey;
using trainyard::operator_::DeferredWrites;

namespace {

ObjectKey job(int i) { return {"default", "job-" + std::to_string(i)}; }

// The number of due writes of this many jobs, checked one after the other from `now` on, `apart` apart.
int ripeOf(DeferredWrites& writes, int jobs, Instant now, Instant::duration apart = {}) {
  writes.beginCycle(now);
  int isDue = 0;
  for (int i = 0; i < jobs; ++i) {
    if (!writes.isDue(job(i), DeferredStatus::kBound, false, now + i * apart)) continue;
    writes.written(job(i));
    ++isDue;
  }
  return isDue;
}

}  // namespace

TEST_CASE("A status that a better one soon replaces is written a second later") {
  DeferredWrites writes;
  const Instant start = Instant{} + 1h;
  CHECK(ripeOf(writes, 1, start) == 0);
  REQUIRE(writes.nextWake() == start + 1s);
  CHECK(ripeOf(writes, 1, start + 1s) == 1);
}

TEST_CASE("Statuses of a thousand jobs that start at once leave the API server capacity for their pods") {
  DeferredWrites writes;
  const Instant start = Instant{} + 1h;
  ripeOf(writes, 1000, start);
  CHECK(ripeOf(writes, 1000, start + 1s) == 20);
  CHECK(ripeOf(writes, 1000, start + 1500ms) == 0);
  CHECK(writes.nextWake() == start + 2s);
  CHECK(ripeOf(writes, 1000, start + 2s) == 20);
}

TEST_CASE("A plan that takes longer than the budget's second does not write without bound") {
  DeferredWrites writes;
  const Instant start = Instant{} + 1h;
  ripeOf(writes, 1000, start);
  CHECK(ripeOf(writes, 1000, start + 1s, 3ms) == 60);
}

TEST_CASE("Messages that change all the time do not delay the status of a job that starts") {
  DeferredWrites writes;
  const Instant start = Instant{} + 1h;
  ripeOf(writes, 1, start);
  writes.beginCycle(start + 1s);
  int spare = 0;
  for (int i = 1; i < 1000; ++i) spare += writes.allow(job(i), start + 1s) ? 1 : 0;
  CHECK(spare == 20);
  CHECK(writes.isDue(job(0), DeferredStatus::kBound, false, start + 1s));
}

TEST_CASE("The status of a job that runs is written at once") {
  DeferredWrites writes;
  const Instant start = Instant{} + 1h;
  ripeOf(writes, 1, start);
  CHECK(writes.deferredStatus(job(0), start) == DeferredStatus::kBound);
  CHECK(writes.isDue(job(0), DeferredStatus::kStarted, true, start + 100ms));
}

TEST_CASE("In a rush pods are written before statuses and statuses when it is over") {
  DeferredWrites writes;
  const Instant start = Instant{} + 1h;
  writes.beginCycle(start, 1000);
  CHECK_FALSE(writes.isDue(job(0), DeferredStatus::kStarted, true, start));
  writes.beginCycle(start + 10s, 21);
  CHECK_FALSE(writes.isDue(job(1), DeferredStatus::kStarted, true, start + 10s));
  CHECK(writes.deferredStatus(job(1), start + 10s) == DeferredStatus::kStarted);
  REQUIRE(writes.nextWake() == start + 12s);
  writes.beginCycle(start + 12s, 20);
  // The cycle that ends here has still skipped them.
  CHECK(writes.nextWake() == start + 12s);
  CHECK(writes.deferredStatus(job(1), start + 12s) == DeferredStatus::kNone);
  CHECK(writes.isDue(job(1), DeferredStatus::kStarted, true, start + 12s));
}

TEST_CASE("A rush that does not end delays a status by at most a minute") {
  DeferredWrites writes;
  const Instant start = Instant{} + 1h;
  writes.beginCycle(start, 1000);
  CHECK_FALSE(writes.isDue(job(0), DeferredStatus::kStarted, true, start));
  writes.beginCycle(start + 59s, 1000);
  CHECK_FALSE(writes.isDue(job(0), DeferredStatus::kStarted, true, start + 59s));
  REQUIRE(writes.nextWake() == start + 60s);
  writes.beginCycle(start + 60s, 1000);
  CHECK(writes.isDue(job(0), DeferredStatus::kStarted, true, start + 60s));
}

TEST_CASE("No status is held back while a job waits for capacity") {
  DeferredWrites writes;
  const Instant start = Instant{} + 1h;
  writes.beginCycle(start, 1000, true);
  CHECK(writes.isDue(job(0), DeferredStatus::kStarted, true, start));
  // No longer than that: pending jobs may be affected by the starts of the next cycle.
  writes.beginCycle(start + 4s, 1000);
  CHECK(writes.isDue(job(1), DeferredStatus::kStarted, true, start + 4s));
  writes.beginCycle(start + 5s, 1000);
  CHECK_FALSE(writes.isDue(job(2), DeferredStatus::kStarted, true, start + 5s));
}

TEST_CASE("The status of a gang with a record is written in a rush as usual") {
  DeferredWrites writes;
  const Instant start = Instant{} + 1h;
  writes.beginCycle(start, 1000);
  CHECK_FALSE(writes.isDue(job(0), DeferredStatus::kBound, false, start));
  writes.beginCycle(start + 1s, 1000);
  CHECK(writes.isDue(job(0), DeferredStatus::kBound, false, start + 1s));
}

TEST_CASE("A status that is due during a cycle causes one more cycle") {
  DeferredWrites writes;
  const Instant start = Instant{} + 1h;
  ripeOf(writes, 1, start);
  // The cycle began before they were due, and skipped them.
  writes.beginCycle(start + 1001ms);
  CHECK(writes.nextWake() == start + 1001ms);
  writes.beginCycle(start + 1002ms);
  CHECK_FALSE(writes.nextWake());
}

TEST_CASE("A write that fails does not restart the minute") {
  DeferredWrites writes;
  const Instant start = Instant{} + 1h;
  writes.beginCycle(start, 1000);
  CHECK_FALSE(writes.isDue(job(0), DeferredStatus::kStarted, true, start));
  writes.beginCycle(start + 60s, 1000);
  CHECK(writes.isDue(job(0), DeferredStatus::kStarted, true, start + 60s));
  writes.note(job(0), start + 60s);
  writes.beginCycle(start + 61s, 1000);
  CHECK(writes.isDue(job(0), DeferredStatus::kStarted, true, start + 61s));
}

TEST_CASE("Messages that change all the time are written ever less often until they are stable") {
  DeferredWrites writes;
  const Instant start = Instant{} + 1h;
  // Checks ten times a second; returns the seconds in which the write was allowed.
  const auto written = [&](Instant from, std::chrono::seconds length) {
    std::vector<int> seconds;
    for (Instant now = from; now < from + length; now += 100ms) {
      writes.beginCycle(now);
      if (!writes.allow(job(1), now)) continue;
      writes.note(job(1), now);
      seconds.push_back(static_cast<int>((now - from) / 1s));
    }
    return seconds;
  };
  CHECK(written(start, 60s) == std::vector<int>{0, 1, 3, 7, 15, 31, 47});
  // No write was requested for half a minute.
  CHECK(written(start + 80s, 5s) == std::vector<int>{0, 1, 3});
  // A write that is more than a refreshed message is not delayed, and refreshes wait from that time on.
  writes.note(job(2), start + 90s);
  writes.beginCycle(start + 90500ms);
  CHECK(!writes.allow(job(2), start + 90500ms));
  CHECK(writes.nextWake() == start + 91s);
}
