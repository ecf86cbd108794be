#pragma once

#include <deque>

#include "base/executor.h"
#include "base/timer_queue.h"

namespace trainyard::base {

// Executor on simulated time: time jumps from one task to the next. Single-threaded and deterministic.
class VirtualLoop final : public Executor {
 public:
  explicit VirtualLoop(WallTime start = WallTime{std::chrono::days{20'000}}) : wallStart_(start) {}

  void post(Task task) override;
  TimerId postAt(Instant when, Task task) override { return timers_.add(when, std::move(task)); }
  void cancel(TimerId timer) override { timers_.cancel(timer); }
  [[nodiscard]] Instant now() const override { return now_; }
  [[nodiscard]] WallTime wallNow() const override { return wallStart_ + now_.time_since_epoch(); }

  // Runs one task, advancing the time to it if none is due; returns false if no task is left before `limit`.
  bool step(Instant limit = Instant::max());
  // Runs all tasks due until `until`, and leaves the time there.
  void runUntil(Instant until);
  void runFor(Instant::duration span) { runUntil(now_ + span); }
  // Runs until `done` returns true or `limit` passes; returns the last result of `done`.
  template <typename Predicate>
  bool runUntilTrue(Predicate done, Instant::duration limit) {
    const Instant end = now_ + limit;
    while (!done()) {
      if (!step(end)) return done();
    }
    return true;
  }
  [[nodiscard]] bool idle() const { return posted_.empty() && timers_.empty(); }

 private:
  std::deque<Task> posted_;
  TimerQueue timers_;
  Instant now_{};
  WallTime wallStart_;
};

}  // namespace trainyard::base
