#include "telemetry/loop_watch.h"

#include <chrono>
#include <vector>

namespace trainyard::telemetry {
namespace {

const std::vector<double> kDelayBounds = {0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5};

}  // namespace

LoopWatch::LoopWatch(MetricsRegistry& registry, base::Executor& executor, base::Instant::duration every)
    : executor_(executor),
      beat_(every),
      delay_(registry.histogram(
          "trainyard_loop_delay_seconds",
          "Delay of a timer of the event loop that runs ten times a second, in an agent every two seconds.",
          kDelayBounds)),
      stalls_(registry.counter("trainyard_loop_stalls_total",
                               "Timers of the event loop that ran more than a second late.")) {
  // The first beat runs on the loop itself: before the loop runs, no timer can be late.
  timer_ = executor_.postAt(executor_.now(), [this] { beat(); });
}

LoopWatch::~LoopWatch() { executor_.cancel(timer_); }

void LoopWatch::beat() {
  due_ = executor_.now() + beat_;
  timer_ = executor_.postAt(due_, [this] {
    const base::Instant::duration late = executor_.now() - due_;
    delay_.observe(std::chrono::duration<double>(late).count());
    if (late > kStall) stalls_.increment();
    beat();
  });
}

}  // namespace trainyard::telemetry
