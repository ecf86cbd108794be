#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "base/executor.h"

namespace trainyard::sim {

// The event loop of one process that can be stopped, as SIGSTOP does, on the clock of everybody: while it is
// paused time goes on, and what was due runs in its old order once it goes on.
class PausableExecutor final : public base::Executor {
 public:
  explicit PausableExecutor(base::Executor& world) : world_(world) {}
  // What is still to run is forgotten.
  ~PausableExecutor() override;

  void pause() { state_->paused = true; }
  void resume();
  [[nodiscard]] bool paused() const { return state_->paused; }

  // Runs a task now, or when the process goes on; never once it is gone. May outlive this object.
  [[nodiscard]] std::function<void(base::Task)> door() const;

  void post(base::Task task) override;
  base::TimerId postAt(base::Instant when, base::Task task) override;
  void cancel(base::TimerId timer) override;
  [[nodiscard]] base::Instant now() const override { return world_.now(); }
  [[nodiscard]] base::WallTime wallNow() const override { return world_.wallNow(); }

 private:
  // Outlives this object in the tasks that the world still holds.
  struct State {
    bool paused = false;
    bool gone = false;
    std::deque<std::pair<std::uint64_t, base::Task>> held;  // with the timer; 0: no timer
    std::set<std::uint64_t> due;                            // timers of a pause that is over, not run yet
  };
  static void deliver(const std::shared_ptr<State>& state, base::Task task, std::uint64_t timer = 0);

  base::Executor& world_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace trainyard::sim
