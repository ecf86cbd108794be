#pragma once

#include <deque>
#include <memory>

#include "base/executor.h"

namespace trainyard::kube {

struct RateLimit {
  int perSecond = 50;  // 0: no limit
  int burst = 100;
};

// A token bucket with waiters in order of arrival. Runs on the executor's loop.
class RateLimiter {
 public:
  RateLimiter(RateLimit limit, base::Executor& executor);
  ~RateLimiter();
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;

  // Runs `task` at once if a token is free and no task waits, otherwise in its turn. Tasks that still wait
  // when the limiter is destroyed never run.
  void acquire(base::Task task);
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

 private:
  [[nodiscard]] bool takeToken();
  void armTimer();
  void runDue();

  RateLimit limit_;
  base::Executor& executor_;
  base::Instant::duration interval_{};  // between two tokens
  // When the bucket will be full again: GCRA, which needs no refill step and no fractions.
  base::Instant full_ = base::Instant::min();
  std::deque<base::Task> waiting_;
  base::TimerId timer_;
};

}  // namespace trainyard::kube
