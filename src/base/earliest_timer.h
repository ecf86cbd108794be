#pragma once

#include <utility>

#include "base/executor.h"

namespace trainyard::base {

// Runs its task at the earliest of the times that were asked for since it ran last.
class EarliestTimer {
 public:
  EarliestTimer(Executor& executor, Task task) : executor_(executor), task_(std::move(task)) {}
  ~EarliestTimer() { executor_.cancel(timer_); }
  EarliestTimer(const EarliestTimer&) = delete;
  EarliestTimer& operator=(const EarliestTimer&) = delete;

  void askFor(Instant when) {
    if (stopped_ || (timer_ != TimerId{} && due_ <= when)) return;
    executor_.cancel(timer_);
    due_ = when;
    timer_ = executor_.postAt(when, [this] {
      timer_ = {};
      task_();
    });
  }
  // The task does not run any more, whatever is asked for.
  void stop() {
    stopped_ = true;
    executor_.cancel(std::exchange(timer_, {}));
  }

 private:
  Executor& executor_;
  Task task_;
  TimerId timer_{};
  Instant due_{};
  bool stopped_ = false;
};

}  // namespace trainyard::base
