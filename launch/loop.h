#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace trainyard::launch {

using Clock = std::chrono::steady_clock;

// A single-threaded event loop that waits for descriptors and timers.
class Loop {
 public:
  using TimerId = std::pair<Clock::time_point, std::uint64_t>;

  // Calls `ready` with the events that poll() reports. A second call for a descriptor replaces the first.
  void watch(int fd, short events, std::function<void(short)> ready);
  void unwatch(int fd);
  TimerId after(std::chrono::milliseconds delay, std::function<void()> call);
  void cancel(const TimerId& id) { timers_.erase(id); }

  // Runs until stop(), which may have been called before. Returns the code that stop() was given.
  int run();
  void stop(int code);

 private:
  struct Watch {
    short events = 0;
    std::function<void(short)> ready;
    std::uint64_t number = 0;
  };
  void turn();

  std::map<int, Watch> watches_;
  std::map<TimerId, std::function<void()>> timers_;
  std::uint64_t next_ = 1;
  bool stopped_ = false;
  int code_ = 0;
};

}  // namespace trainyard::launch
