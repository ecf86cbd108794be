#include "launch/loop.h"

#include <poll.h>

#include <algorithm>
#include <vector>

namespace trainyard::launch {

void Loop::watch(int fd, short events, std::function<void(short)> ready) {
  watches_[fd] = {events, std::move(ready), next_++};
}

void Loop::unwatch(int fd) { watches_.erase(fd); }

Loop::TimerId Loop::after(std::chrono::milliseconds delay, std::function<void()> call) {
  const TimerId id{Clock::now() + delay, next_++};
  timers_.emplace(id, std::move(call));
  return id;
}

int Loop::run() {
  while (!stopped_) turn();
  return code_;
}

void Loop::stop(int code) {
  stopped_ = true;
  code_ = code;
}

void Loop::turn() {
  std::vector<pollfd> polled;
  std::vector<std::uint64_t> numbers;
  for (const auto& [fd, watch] : watches_) {
    polled.push_back({fd, watch.events, 0});
    numbers.push_back(watch.number);
  }
  int timeout = -1;
  if (!timers_.empty()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first.first - Clock::now());
    timeout = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
  }
  ::poll(polled.data(), polled.size(), timeout);
  while (!stopped_ && !timers_.empty() && timers_.begin()->first.first <= Clock::now()) {
    const auto call = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    call();
  }
  for (std::size_t i = 0; i < polled.size() && !stopped_; ++i) {
    if (polled[i].revents == 0) continue;
    // An earlier callback may have closed the descriptor, and a new one may have its number by now.
    const auto found = watches_.find(polled[i].fd);
    if (found == watches_.end() || found->second.number != numbers[i]) continue;
    const auto ready = found->second.ready;
    ready(polled[i].revents);
  }
}

}  // namespace trainyard::launch
