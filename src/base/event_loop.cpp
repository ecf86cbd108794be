#include "base/event_loop.h"

namespace trainyard::base {

void EventLoop::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(task));
  }
  wake_.notify_one();
}

TimerId EventLoop::postAt(Instant when, Task task) {
  TimerId id;
  {
    const std::lock_guard lock(mutex_);
    id = timers_.add(when, std::move(task));
  }
  wake_.notify_one();
  return id;
}

void EventLoop::cancel(TimerId timer) {
  const std::lock_guard lock(mutex_);
  timers_.cancel(timer);
}

Instant EventLoop::now() const {
  return Instant{
      std::chrono::duration_cast<Instant::duration>(std::chrono::steady_clock::now().time_since_epoch())};
}

WallTime EventLoop::ownWallNow() const {
  return std::chrono::time_point_cast<WallTime::duration>(std::chrono::system_clock::now());
}

WallTime EventLoop::wallNow() const {
  const WallTime own = ownWallNow();
  const WallTime::rep anchor = anchor_.load(std::memory_order_relaxed);
  if (anchor == kNoAnchor) return own;
  const WallTime anchored = WallTime(WallTime::duration(anchor)) + now().time_since_epoch();
  return std::chrono::abs(own - anchored) <= kWallTolerance ? own : anchored;
}

void EventLoop::setWallAnchor(WallTime fromMonotonic) {
  anchor_.store(fromMonotonic.time_since_epoch().count(), std::memory_order_relaxed);
}

bool EventLoop::takeNext(Task& out) {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    // Due timers first: a flood of posted work must not delay a lease renewal.
    out = timers_.popDue(now());
    if (out) return true;
    if (!posted_.empty()) {
      out = std::move(posted_.front());
      posted_.pop_front();
      return true;
    }
    if (const auto due = timers_.nextDue()) {
      wake_.wait_for(lock, *due - now());
    } else {
      wake_.wait(lock);
    }
  }
  return false;
}

void EventLoop::run() {
  Task task;
  while (takeNext(task)) {
    task();
    task = {};
  }
}

void EventLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

}  // namespace trainyard::base
