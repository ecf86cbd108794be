#include "base/virtual_loop.h"

#include <algorithm>

namespace trainyard::base {

void VirtualLoop::post(Task task) { posted_.push_back(std::move(task)); }

bool VirtualLoop::step(Instant limit) {
  Task task = timers_.popDue(now_);
  if (!task && !posted_.empty()) {
    task = std::move(posted_.front());
    posted_.pop_front();
  }
  if (!task) {
    const auto due = timers_.nextDue();
    if (!due || *due > limit) return false;
    now_ = std::max(now_, *due);
    task = timers_.popDue(now_);
  }
  task();
  return true;
}

void VirtualLoop::runUntil(Instant until) {
  while (step(until)) {
  }
  now_ = std::max(now_, until);
}

}  // namespace trainyard::base
