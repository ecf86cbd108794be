#pragma once

#include <utility>

#include "base/executor.h"
#include "base/rng.h"
#include "base/time.h"

namespace trainyard::kube {

// The attempts to acquire or renew a Lease: at most one is in flight, and a delay separates two of them.
class LeaseAttempts {
 public:
  LeaseAttempts(base::Executor& executor, base::Rng rng) : executor_(executor), rng_(rng) {}

  void begin() { inFlight_ = true; }
  // The attempt is over, and `attempt` begins another one.
  void repeatAfter(base::Instant::duration delay, base::Task attempt) {
    inFlight_ = false;
    next_ = executor_.postAfter(delay, std::move(attempt));
  }
  void cancelNext() { executor_.cancel(next_); }

  [[nodiscard]] bool inFlight() const { return inFlight_; }
  // The delays of candidates vary from 1 to 2.2 times, so that they do not all write at the expiry.
  [[nodiscard]] base::Instant::duration varied(base::Instant::duration delay) {
    return delay + delay * rng_.between(0, 1200) / 1000;
  }

 private:
  base::Executor& executor_;
  base::Rng rng_;
  base::TimerId next_;
  bool inFlight_ = false;
};

}  // namespace trainyard::kube
