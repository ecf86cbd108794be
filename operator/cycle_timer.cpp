#include "operator/cycle_timer.h"

#include <algorithm>
#include <chrono>

namespace trainyard::operator_ {
namespace {

// Changes come in bursts: one cycle handles a burst, and planning takes no more than a twentieth of the time.
// If cycles are long, it may take up to a fifth, so that users do not wait long for a message.
constexpr base::Instant::duration kCoalesce = std::chrono::milliseconds(2);
constexpr base::Instant::duration kMaxRest = std::chrono::milliseconds(100);
constexpr int kRestPerWork = 19;
constexpr int kMinRestPerWork = 4;
constexpr base::Instant::duration kSyncPoll = std::chrono::milliseconds(20);

base::Instant::duration restAfter(base::Instant::duration work) {
  return std::max(kCoalesce, std::min(kRestPerWork * work, std::max(kMaxRest, kMinRestPerWork * work)));
}

}  // namespace

void CycleTimer::request() {
  if (requested_ || stopped_) return;
  requested_ = true;
  executor_.postAt(next_, [this, alive = alive_] {
    if (!*alive) return;
    requested_ = false;
    run_();
  });
}

void CycleTimer::retrySoon() {
  if (awaitingSync_) return;
  awaitingSync_ = true;
  executor_.postAfter(kSyncPoll, [this, alive = alive_] {
    if (!*alive) return;
    awaitingSync_ = false;
    request();
  });
}

void CycleTimer::restAfterCycle(base::Instant begin, base::Instant end) {
  next_ = end + restAfter(end - begin);
}

void CycleTimer::wakeAt(std::optional<base::Instant> due) {
  executor_.cancel(wake_);
  if (!due) return;
  wake_ = executor_.postAt(*due, [this, alive = alive_] {
    if (*alive) request();
  });
}

}  // namespace trainyard::operator_
