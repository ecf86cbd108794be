#include "kube/rate_limiter.h"

#include <algorithm>

namespace trainyard::kube {

RateLimiter::RateLimiter(RateLimit limit, base::Executor& executor) : limit_(limit), executor_(executor) {
  if (limit_.perSecond > 0) interval_ = base::Instant::duration(std::chrono::seconds(1)) / limit_.perSecond;
  limit_.burst = std::max(limit_.burst, 1);
}

RateLimiter::~RateLimiter() { executor_.cancel(timer_); }

bool RateLimiter::takeToken() {
  if (limit_.perSecond <= 0) return true;
  const base::Instant now = executor_.now();
  const base::Instant full = std::max(full_, now);
  if (full - now > interval_ * (limit_.burst - 1)) return false;
  full_ = full + interval_;
  return true;
}

void RateLimiter::acquire(base::Task task) {
  if (waiting_.empty() && takeToken()) {
    task();
    return;
  }
  waiting_.push_back(std::move(task));
  if (waiting_.size() == 1) armTimer();
}

void RateLimiter::armTimer() {
  timer_ = executor_.postAt(full_ - interval_ * (limit_.burst - 1), [this] { runDue(); });
}

void RateLimiter::runDue() {
  // Runs one task per call: the task may queue another one, or destroy this limiter.
  timer_ = {};
  if (!takeToken()) {
    armTimer();
    return;
  }
  const base::Task task = std::move(waiting_.front());
  waiting_.pop_front();
  if (!waiting_.empty()) armTimer();
  task();
}

}  // namespace trainyard::kube
