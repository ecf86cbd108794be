#include "telemetry/waiting_room.h"

namespace trainyard::telemetry {

std::shared_ptr<void> WaitingRoom::enter(const std::string& address) {
  {
    const std::lock_guard lock(mutex_);
    if (all_ >= kMost) return nullptr;
    std::size_t& held = held_[address];
    if (held >= kMostOfAddress) return nullptr;
    ++held;
    ++all_;
  }
  return {this, [room = shared_from_this(), address](void*) { room->leave(address); }};
}

void WaitingRoom::leave(const std::string& address) {
  const std::lock_guard lock(mutex_);
  --all_;
  const auto held = held_.find(address);
  if (--held->second == 0) held_.erase(held);
}

}  // namespace trainyard::telemetry
