#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>

#include "base/executor.h"
#include "base/timer_queue.h"

namespace trainyard::base {

// Executor on real time. One thread calls run(); others may post and stop.
class EventLoop final : public Executor {
 public:
  void post(Task task) override;
  TimerId postAt(Instant when, Task task) override;
  void cancel(TimerId timer) override;
  [[nodiscard]] Instant now() const override;
  [[nodiscard]] WallTime wallNow() const override;
  [[nodiscard]] WallTime ownWallNow() const override;
  void setWallAnchor(WallTime fromMonotonic) override;

  // Runs tasks until stop(). Tasks posted after stop() stay in the queue and are destroyed with the loop.
  void run();
  // Safe from any thread.
  void stop();

 private:
  [[nodiscard]] bool takeNext(Task& out);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> posted_;
  TimerQueue timers_;
  bool stopping_ = false;
  // The wall time at now() = 0; kNoAnchor before the first anchor. Read from any thread.
  static constexpr WallTime::rep kNoAnchor = std::numeric_limits<WallTime::rep>::min();
  std::atomic<WallTime::rep> anchor_ = kNoAnchor;
};

}  // namespace trainyard::base
