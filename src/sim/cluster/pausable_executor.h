#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "base/executor.h"

namespace trainyard::sim {

// The event loop of one process that can be paused, as by SIGSTOP, on the shared virtual clock. Time
// continues while it is paused; tasks that became due run in their order after resume().
class PausableExecutor final : public base::Executor {
 public:
  explicit PausableExecutor(base::Executor& world) : world_(world) {}
  // Pending tasks are dropped.
  ~PausableExecutor() override;

  void pause() { state_->paused = true; }
  void resume();
  [[nodiscard]] bool paused() const { return state_->paused; }

  // Runs a task now or after the pause, and never after this object is gone. The result may outlive it.
  [[nodiscard]] std::function<void(base::Task)> door() const;

  void post(base::Task task) override;
  base::TimerId postAt(base::Instant when, base::Task task) override;
  void cancel(base::TimerId timer) override;
  [[nodiscard]] base::Instant now() const override { return world_.now(); }
  [[nodiscard]] base::WallTime wallNow() const override { return world_.wallNow(); }

 private:
  // Kept alive by the tasks that the world's loop still holds.
  struct State {
    bool paused = false;
    bool gone = false;
    std::deque<std::pair<std::uint64_t, base::Task>> held;  // with the timer; 0: no timer
    std::set<std::uint64_t> due;                            // timers of an ended pause, not run yet
  };
  static void deliver(const std::shared_ptr<State>& state, base::Task task, std::uint64_t timer = 0);

  base::Executor& world_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace trainyard::sim
