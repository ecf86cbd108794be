#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace trainyard::launch {

using Clock = std::chrono::steady_clock;

// One thread that waits for descriptors and points in time.
class Loop {
 public:
  using TimerId = std::pair<Clock::time_point, std::uint64_t>;

  // `ready` is called with poll()'s events; anew for a descriptor that is watched already.
  void watch(int fd, short events, std::function<void(short)> ready);
  void unwatch(int fd);
  TimerId after(std::chrono::milliseconds delay, std::function<void()> call);
  void cancel(const TimerId& id) { timers_.erase(id); }

  // Until stop(), which may have come before; gives what that was told.
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
