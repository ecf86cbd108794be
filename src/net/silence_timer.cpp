#include "net/silence_timer.h"

namespace trainyard::net {

void SilenceTimer::start(std::weak_ptr<void> owner, std::function<void()> onSilence) {
  owner_ = std::move(owner);
  onSilence_ = std::move(onSilence);
  wait(limit_);
}

void SilenceTimer::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  timer_.cancel();
}

void SilenceTimer::wait(Clock::duration span) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  timer_.expires_after(span);
  timer_.async_wait([this, weak = owner_](const boost::system::error_code& error) {
    if (error) return;
    if (const auto owner = weak.lock()) check();
  });
}

void SilenceTimer::check() {
  const Clock::duration silence = Clock::now() - lastHeard_.load();
  if (paused_ || silence < limit_) {
    wait(paused_ ? limit_ : limit_ - silence);
    return;
  }
  onSilence_();
}

}  // namespace trainyard::net
