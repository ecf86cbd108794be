#include "kube/server_clock.h"

#include <chrono>

#include <catch2/catch.hpp>

#include "base/event_loop.h"
#include "base/silent_log.h"
#include "base/virtual_loop.h"

namespace trainyard::kube {
namespace {

using namespace std::chrono_literals;

// A machine with a clock that is `ahead` of the true time.
class WrongClock final : public base::Executor {
 public:
  void post(base::Task task) override { loop.post(std::move(task)); }
  base::TimerId postAt(base::Instant when, base::Task task) override {
    return loop.postAt(when, std::move(task));
  }
  void cancel(base::TimerId timer) override { loop.cancel(timer); }
  [[nodiscard]] base::Instant now() const override { return loop.now(); }
  [[nodiscard]] base::WallTime ownWallNow() const override { return loop.wallNow() + ahead; }
  [[nodiscard]] base::WallTime wallNow() const override {
    return anchor ? *anchor + now().time_since_epoch() : ownWallNow();
  }
  void setWallAnchor(base::WallTime fromMonotonic) override { anchor = fromMonotonic; }

  [[nodiscard]] base::WallTime truth() const { return loop.wallNow(); }

  base::VirtualLoop loop{*base::parseTime("2026-11-28T02:43:03Z")};
  base::WallTime::duration ahead{0};
  std::optional<base::WallTime> anchor;
};

std::string httpDate(base::WallTime time) {
  const std::string text = base::formatTime(time);  // 2026-11-28T02:43:03Z
  return "Sat, " + text.substr(8, 2) + " Nov 2026 " + text.substr(11, 8) + " GMT";
}

struct Fixture {
  void answer(base::WallTime::duration serverAhead = 0s) {
    const base::Instant sent = machine.now();
    machine.loop.runFor(100ms);
    clock.note(httpDate(machine.truth() + serverAhead), sent);
  }
  [[nodiscard]] base::WallTime::duration error() const { return machine.wallNow() - machine.truth(); }

  base::SilentSink silent;
  WrongClock machine;
  ServerClock clock{machine, base::Logger(silent, base::LogLevel::kError, "test")};
};

}  // namespace

TEST_CASE("HTTP's form of times is read and nothing else") {
  CHECK(parseHttpDate("Sat, 28 Nov 2026 02:43:03 GMT") == *base::parseTime("2026-11-28T02:43:03Z"));
  CHECK_FALSE(parseHttpDate(""));
  CHECK_FALSE(parseHttpDate("Sat, 31 Feb 2026 02:43:03 GMT"));
  CHECK_FALSE(parseHttpDate("Saturday, 28-Nov-26 02:43:03 GMT"));
  CHECK_FALSE(parseHttpDate("Sat, 28 Nov 2026 -2:43:03 GMT"));
}

TEST_CASE_METHOD(Fixture, "a clock that is ahead or behind is corrected by the first answer") {
  machine.ahead = GENERATE(300s, -600s, 86'400s);
  answer();
  CHECK(std::chrono::abs(error()) <= 1s);
}

TEST_CASE_METHOD(Fixture, "a clock that agrees within two seconds is used as it is") {
  machine.ahead = 1s;
  answer();
  CHECK(error() == 1s);
}

TEST_CASE_METHOD(Fixture, "one server among several that has a wrong clock does not matter") {
  for (int i = 0; i < 30; ++i) answer(i % 3 == 2 ? 3'600s : 0s);
  CHECK(std::chrono::abs(error()) <= 1s);
}

TEST_CASE_METHOD(Fixture, "a slow answer does not set the clock") {
  machine.ahead = 300s;
  const base::Instant sent = machine.now();
  machine.loop.runFor(10s);
  clock.note(httpDate(machine.truth()), sent);
  CHECK_FALSE(machine.anchor);
}

TEST_CASE("an event loop keeps to its anchor where the machine's clock is elsewhere") {
  base::EventLoop loop;
  const auto anchored = [&](std::chrono::seconds off) {
    loop.setWallAnchor(loop.ownWallNow() + off - loop.now().time_since_epoch());
    return loop.wallNow() - loop.ownWallNow();
  };
  CHECK(std::chrono::abs(anchored(1s)) < 100ms);
  CHECK(std::chrono::abs(anchored(-300s) + 300s) < 100ms);
}

}  // namespace trainyard::kube
