#include "operator/deferred_writes.h"

#include <catch2/catch.hpp>
#include <string>

using namespace std::chrono_literals;
using trainyard::base::Instant;
using trainyard::model::ObjectKey;
using trainyard::operator_::DeferredWrites;

namespace {

ObjectKey job(int i) { return {"default", "job-" + std::to_string(i)}; }

int ripeOf(DeferredWrites& writes, int jobs, Instant now) {
  writes.beginCycle(now);
  int ripe = 0;
  for (int i = 0; i < jobs; ++i) {
    if (!writes.ripe(job(i), now)) continue;
    writes.note(job(i), now);
    ++ripe;
  }
  return ripe;
}

}  // namespace

TEST_CASE("News that better news overtakes is told a second later") {
  DeferredWrites writes;
  const Instant start = Instant{} + 1h;
  CHECK(ripeOf(writes, 1, start) == 0);
  REQUIRE(writes.nextWake() == start + 1s);
  CHECK(ripeOf(writes, 1, start + 1s) == 1);
}

TEST_CASE("News of a thousand jobs that come up at once leaves the API server room for their pods") {
  DeferredWrites writes;
  const Instant start = Instant{} + 1h;
  ripeOf(writes, 1000, start);
  CHECK(ripeOf(writes, 1000, start + 1s) == 20);
  CHECK(ripeOf(writes, 1000, start + 1500ms) == 0);
  CHECK(writes.nextWake() == start + 2s);
  CHECK(ripeOf(writes, 1000, start + 2s) == 20);
}

TEST_CASE("A plan that takes longer than the budget's second is not told of without bound") {
  DeferredWrites writes;
  const Instant start = Instant{} + 1h;
  ripeOf(writes, 1000, start);
  writes.beginCycle(start + 1s);
  int ripe = 0;
  for (int i = 0; i < 1000; ++i) ripe += writes.ripe(job(i), start + 1s + i * 3ms) ? 1 : 0;
  CHECK(ripe == 60);
}
