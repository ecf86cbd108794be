#pragma once

#include <memory>

#include "base/executor.h"
#include "telemetry/metrics.h"

namespace trainyard::telemetry {

// Watches an event loop from within: a late timer shows that the tasks before it ran too long. Lives on the
// executor's thread.
class LoopWatch {
 public:
  // A later timer is a stall: the lease is renewed on the same loop, and lost after a few stalls.
  static constexpr base::Instant::duration kStall = std::chrono::seconds(1);
  static constexpr base::Instant::duration kBeat = std::chrono::milliseconds(100);

  // Both must outlive the watch, which starts at once. Each beat takes some 20 us of CPU time, so a program
  // with a small CPU budget uses a longer beat.
  LoopWatch(MetricsRegistry& registry, base::Executor& executor, base::Instant::duration every = kBeat);
  ~LoopWatch();
  LoopWatch(const LoopWatch&) = delete;
  LoopWatch& operator=(const LoopWatch&) = delete;

 private:
  void beat();

  base::Executor& executor_;
  const base::Instant::duration beat_;
  Histogram delay_;
  Counter stalls_;
  base::Instant due_{};
  base::TimerId timer_{};
};

}  // namespace trainyard::telemetry
