#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/executor.h"

namespace trainyard::operator_ {

// When cycles run: soon after a request, but with a rest after each cycle, and when something is due without
// a change.
class CycleTimer {
 public:
  // `run` runs a cycle.
  CycleTimer(base::Executor& executor, std::function<void()> run)
      : executor_(executor), run_(std::move(run)) {}
  ~CycleTimer() { *alive_ = false; }
  CycleTimer(const CycleTimer&) = delete;
  CycleTimer& operator=(const CycleTimer&) = delete;

  void request();
  // Call in a cycle that has to wait for lists. Polls: lists that change nothing in warm caches request no
  // cycle.
  void retrySoon();
  // A cycle ran from `begin` to `end`. The rest before the next one depends on how long it took.
  void restAfterCycle(base::Instant begin, base::Instant end);
  // Requests a cycle for then, instead of the time that was set before.
  void wakeAt(std::optional<base::Instant> due);
  // No cycle runs from now on.
  void stop() { stopped_ = true; }
  [[nodiscard]] bool isStopped() const { return stopped_; }

 private:
  base::Executor& executor_;
  std::function<void()> run_;
  bool requested_ = false;
  bool awaitingSync_ = false;
  bool stopped_ = false;
  base::Instant next_{};
  base::TimerId wake_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
