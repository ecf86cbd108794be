#pragma once

// Internal to the client.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace trainyard::net {

// Detects that a stream has been silent for too long. Pauses do not count: the reader then waits for this
// process. Thread-safe.
class SilenceTimer {
 public:
  using Clock = std::chrono::steady_clock;

  SilenceTimer(boost::asio::io_context& io, Clock::duration limit)
      : limit_(limit), lastHeard_(Clock::now()), timer_(io) {}

  // Called once. `onSilence` is called while `owner`, which has this timer, exists.
  void start(std::weak_ptr<void> owner, std::function<void()> onSilence);
  void stop();

  void heard() { lastHeard_ = Clock::now(); }
  void setPaused(bool isPaused) { paused_ = isPaused; }

 private:
  void wait(Clock::duration span);
  void check();

  const Clock::duration limit_;
  std::weak_ptr<void> owner_;
  std::function<void()> onSilence_;
  std::atomic<Clock::time_point> lastHeard_;
  std::atomic<bool> paused_ = false;

  std::mutex mutex_;
  boost::asio::steady_timer timer_;
  bool stopped_ = false;
};

}  // namespace trainyard::net
