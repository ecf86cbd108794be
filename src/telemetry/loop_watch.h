#pragma once

#include <memory>

#include "base/executor.h"
#include "telemetry/metrics.h"

namespace trainyard::telemetry {

// Watches an event loop from within: a timer that comes late was kept from running by what ran before it.
// Lives on the executor's thread.
class LoopWatch {
 public:
  // Later than this is a stall: the lease is renewed on the same loop, and lost after a few of them.
  static constexpr base::Instant::duration kStall = std::chrono::seconds(1);
  static constexpr base::Instant::duration kBeat = std::chrono::milliseconds(100);

  // Both must outlive the watch; it begins at once. A longer beat for who has to cost next to nothing: each
  // takes some 20 us of CPU time.
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
