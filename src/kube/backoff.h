#pragma once

#include "base/rng.h"
#include "base/time.h"

namespace trainyard::kube {

// Doubling delays with jitter: the n-th is drawn from [initial·2ⁿ, 2·initial·2ⁿ], never above `cap`. The
// sequence restarts if `calmAfter` has passed since the end of the last delay.
class Backoff {
 public:
  struct Options {
    base::Instant::duration initial = std::chrono::milliseconds(800);
    base::Instant::duration cap = std::chrono::seconds(30);
    base::Instant::duration calmAfter = std::chrono::minutes(2);
  };

  Backoff(Options options, base::Rng rng) : options_(options), rng_(rng) {}

  [[nodiscard]] base::Instant::duration next(base::Instant now);
  void reset() { current_ = {}; }

 private:
  Options options_;
  base::Rng rng_;
  base::Instant::duration current_{};  // 0: restart
  base::Instant lastEnd_{};
};

}  // namespace trainyard::kube
