#include "base/timer_queue.h"

#include <catch2/catch.hpp>

#include <string>

using namespace trainyard::base;  // NOLINT(google-build-using-namespace): test

namespace {

Instant in(int seconds) { return Instant{std::chrono::seconds{seconds}}; }

std::string runDue(TimerQueue& queue, Instant now, std::string& log) {
  while (Task task = queue.popDue(now)) task();
  return log;
}

}  // namespace

TEST_CASE("timers: they run by time and then by insertion") {
  TimerQueue queue;
  std::string log;
  queue.add(in(2), [&] { log += 'c'; });
  queue.add(in(1), [&] { log += 'a'; });
  queue.add(in(1), [&] { log += 'b'; });
  CHECK(queue.nextDue() == in(1));
  CHECK(runDue(queue, in(0), log).empty());
  CHECK(runDue(queue, in(1), log) == "ab");
  CHECK(queue.nextDue() == in(2));
  CHECK(runDue(queue, in(5), log) == "abc");
  CHECK(queue.empty());
  CHECK_FALSE(queue.nextDue());
}

TEST_CASE("timers: cancelled ones never run and unknown ids do no harm") {
  TimerQueue queue;
  std::string log;
  const TimerId first = queue.add(in(1), [&] { log += 'a'; });
  queue.add(in(1), [&] { log += 'b'; });
  queue.cancel(first);
  queue.cancel(first);
  queue.cancel(TimerId{});
  queue.cancel(TimerId{99});
  CHECK(runDue(queue, in(1), log) == "b");
  queue.cancel(first);
  CHECK(queue.empty());
}

TEST_CASE("timers: a task may add and cancel while it runs") {
  TimerQueue queue;
  std::string log;
  TimerId victim;
  queue.add(in(1), [&] {
    log += 'a';
    queue.cancel(victim);
    queue.add(in(1), [&] { log += 'c'; });
  });
  victim = queue.add(in(1), [&] { log += 'x'; });
  CHECK(runDue(queue, in(1), log) == "ac");
}
