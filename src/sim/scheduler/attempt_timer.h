#pragma once

#include <functional>
#include <utility>

#include "base/executor.h"

namespace trainyard::sim {

// Starts attempts when they are due, one at a time.
class AttemptTimer {
 public:
  AttemptTimer(base::Executor& executor, std::function<void()> attempt)
      : executor_(executor), attempt_(std::move(attempt)) {}
  ~AttemptTimer() { executor_.cancel(timer_); }
  AttemptTimer(const AttemptTimer&) = delete;
  AttemptTimer& operator=(const AttemptTimer&) = delete;

  // The present attempt takes until then.
  void busyUntil(base::Instant until) { busyUntil_ = until; }
  // Starts an attempt at this time, unless one is due earlier.
  void schedule(base::Instant due);

 private:
  base::Executor& executor_;
  std::function<void()> attempt_;
  base::TimerId timer_{};
  base::Instant dueAt_ = base::Instant::max();
  base::Instant busyUntil_{};
};

}  // namespace trainyard::sim
