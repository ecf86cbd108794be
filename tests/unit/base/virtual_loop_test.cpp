#include "base/virtual_loop.h"

#include <catch2/catch.hpp>

#include <functional>
#include <string>

using namespace trainyard::base;  // NOLINT(google-build-using-namespace): test
using std::chrono::seconds;

TEST_CASE("virtual loop: time jumps from task to task") {
  VirtualLoop loop;
  std::string log;
  const WallTime start = loop.wallNow();
  loop.postAfter(seconds{60}, [&] { log += 'b'; });
  loop.postAfter(seconds{10}, [&] { log += 'a'; });
  CHECK(loop.step());
  CHECK(loop.wallNow() - start == seconds{10});
  CHECK(loop.step());
  CHECK(loop.wallNow() - start == seconds{60});
  CHECK(log == "ab");
  CHECK_FALSE(loop.step());
  CHECK(loop.idle());
}

TEST_CASE("virtual loop: posted tasks run in order at the present time") {
  VirtualLoop loop;
  std::string log;
  loop.post([&] {
    log += 'a';
    loop.post([&] { log += 'c'; });
  });
  loop.post([&] { log += 'b'; });
  while (loop.step()) {
  }
  CHECK(log == "abc");
  CHECK(loop.now() == Instant{});
}

TEST_CASE("virtual loop: runUntil leaves later tasks alone and moves the time") {
  VirtualLoop loop;
  int runs = 0;
  loop.postAfter(seconds{5}, [&] { ++runs; });
  loop.postAfter(seconds{15}, [&] { ++runs; });
  loop.runFor(seconds{10});
  CHECK(runs == 1);
  CHECK(loop.now() == Instant{seconds{10}});
  loop.runFor(seconds{10});
  CHECK(runs == 2);
}

TEST_CASE("virtual loop: a time in the past means now") {
  VirtualLoop loop;
  loop.runFor(seconds{10});
  bool ran = false;
  loop.postAt(Instant{seconds{3}}, [&] { ran = true; });
  CHECK(loop.step());
  CHECK(ran);
  CHECK(loop.now() == Instant{seconds{10}});
}

TEST_CASE("virtual loop: cancelled timers do not hold it up") {
  VirtualLoop loop;
  const TimerId timer = loop.postAfter(seconds{1}, [] { FAIL("cancelled"); });
  loop.cancel(timer);
  CHECK_FALSE(loop.step());
}

TEST_CASE("virtual loop: it waits for a condition up to a limit") {
  VirtualLoop loop;
  int ticks = 0;
  std::function<void()> tick = [&] {
    ++ticks;
    loop.postAfter(seconds{1}, tick);
  };
  tick();
  CHECK(loop.runUntilTrue([&] { return ticks == 4; }, seconds{10}));
  CHECK(loop.now() == Instant{seconds{3}});
  CHECK_FALSE(loop.runUntilTrue([&] { return ticks == 1000; }, seconds{10}));
}
