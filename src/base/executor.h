#pragma once

#include <cstdint>
#include <functional>

#include "base/time.h"

namespace trainyard::base {

using Task = std::function<void()>;

// Identifies a pending timer of one executor; 0 identifies none.
struct TimerId {
  std::uint64_t value = 0;
  friend bool operator==(TimerId, TimerId) = default;
};

// The one event loop that all logic of a program runs on. EventLoop drives it by real time, VirtualLoop by
// simulated time: production and simulation run the same code. Tasks run one at a time, in the order of their
// time and then of their posting.
class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;

  // Safe from any thread; every other call belongs to the loop's own thread.
  virtual void post(Task task) = 0;
  // Runs `task` at `when`, or as soon as possible if that has passed.
  virtual TimerId postAt(Instant when, Task task) = 0;
  // Does nothing for a timer that has fired or was cancelled before.
  virtual void cancel(TimerId timer) = 0;

  [[nodiscard]] virtual Instant now() const = 0;
  [[nodiscard]] virtual WallTime wallNow() const = 0;
  // The calendar time of this machine's own clock, regardless of setWallAnchor().
  [[nodiscard]] virtual WallTime ownWallNow() const { return wallNow(); }
  // Corrects wallNow(): it equals ownWallNow() while that is within kWallTolerance of now() +
  // `fromMonotonic`, else the latter. A step of the machine's clock then has no effect. Does nothing on
  // virtual time.
  virtual void setWallAnchor(WallTime fromMonotonic) { static_cast<void>(fromMonotonic); }
  static constexpr std::chrono::seconds kWallTolerance{2};

  TimerId postAfter(Instant::duration delay, Task task) { return postAt(now() + delay, std::move(task)); }
};

}  // namespace trainyard::base
