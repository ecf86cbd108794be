#include "telemetry/waiter_limit.h"

namespace trainyard::telemetry {

std::shared_ptr<void> WaiterLimit::enter(const std::string& address) {
  {
    const std::lock_guard lock(mutex_);
    if (all_ >= kMax) return nullptr;
    std::size_t& held = held_[address];
    if (held >= kMaxOfAddress) return nullptr;
    ++held;
    ++all_;
  }
  return {this, [capacity = shared_from_this(), address](void*) { capacity->leave(address); }};
}

void WaiterLimit::leave(const std::string& address) {
  const std::lock_guard lock(mutex_);
  --all_;
  const auto held = held_.find(address);
  if (--held->second == 0) held_.erase(held);
}

}  // namespace trainyard::telemetry
