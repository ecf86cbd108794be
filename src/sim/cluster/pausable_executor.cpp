#include "sim/cluster/pausable_executor.h"

namespace trainyard::sim {

PausableExecutor::~PausableExecutor() {
  state_->gone = true;
  state_->held.clear();
}

std::function<void(base::Task)> PausableExecutor::door() const {
  return [state = state_](base::Task task) { deliver(state, std::move(task)); };
}

void PausableExecutor::deliver(const std::shared_ptr<State>& state, base::Task task, std::uint64_t timer) {
  if (state->gone) return;
  if (state->paused) {
    state->held.emplace_back(timer, std::move(task));
  } else {
    task();
  }
}

// The world's loop runs the tasks one at a time, because a task may pause the process again.
void PausableExecutor::resume() {
  if (!state_->paused) return;
  state_->paused = false;
  auto held = std::move(state_->held);
  state_->held.clear();
  for (auto& each : held) {
    const std::uint64_t timer = each.first;
    if (timer == 0) {
      post(std::move(each.second));
      continue;
    }
    // Tasks that run before it may still cancel it under its old id.
    state_->due.insert(timer);
    world_.post([state = state_, timer, task = std::move(each.second)]() mutable {
      if (state->due.erase(timer) != 0) deliver(state, std::move(task), timer);
    });
  }
}

void PausableExecutor::post(base::Task task) {
  world_.post([state = state_, task = std::move(task)]() mutable { deliver(state, std::move(task)); });
}

base::TimerId PausableExecutor::postAt(base::Instant when, base::Task task) {
  auto name = std::make_shared<std::uint64_t>(0);
  const base::TimerId timer = world_.postAt(when, [state = state_, name, task = std::move(task)]() mutable {
    deliver(state, std::move(task), *name);
  });
  *name = timer.value;
  return timer;
}

void PausableExecutor::cancel(base::TimerId timer) {
  world_.cancel(timer);
  state_->due.erase(timer.value);
  std::erase_if(state_->held,
                [&](const auto& each) { return each.first == timer.value && timer.value != 0; });
}

}  // namespace trainyard::sim
