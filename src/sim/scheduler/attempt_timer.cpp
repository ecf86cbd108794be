#include "sim/scheduler/attempt_timer.h"

#include <algorithm>

namespace trainyard::sim {

void AttemptTimer::schedule(base::Instant due) {
  due = std::max(due, busyUntil_);
  if (due >= dueAt_) return;
  executor_.cancel(timer_);
  dueAt_ = due;
  timer_ = executor_.postAt(due, [this] {
    dueAt_ = base::Instant::max();
    attempt_();
  });
}

}  // namespace trainyard::sim
