#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace trainyard::replay {

// The future events of the simulated network, and its time in nanoseconds.
class TensorLightsEvents {
 public:
  enum class Kind { kLeft, kArrived, kComputed, kTurn };
  struct Event {
    std::int64_t at = 0;
    std::int64_t order = 0;  // of equal times the first created one is first
    Kind kind = Kind::kLeft;
    int which = 0;  // the host or the flow
    friend bool operator>(const Event& a, const Event& b) {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };

  [[nodiscard]] std::int64_t now() const { return now_; }
  [[nodiscard]] bool empty() const { return events_.empty(); }
  // An event occurs this many nanoseconds from now. `which` is a host or a flow.
  void after(std::int64_t delay, Kind kind, int which) { events_.push({now_ + delay, ++made_, kind, which}); }
  // Takes the first event; its time is the present time from now on.
  Event next() {
    const Event event = events_.top();
    events_.pop();
    now_ = event.at;
    return event;
  }

 private:
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::int64_t now_ = 0;
  std::int64_t made_ = 0;
};

}  // namespace trainyard::replay
