#include "base/timer_queue.h"

namespace trainyard::base {

TimerId TimerQueue::add(Instant when, Task task) {
  const std::uint64_t id = ++lastId_;
  tasks_.emplace(Key{when, id}, std::move(task));
  dueById_.emplace(id, when);
  return TimerId{id};
}

void TimerQueue::cancel(TimerId timer) {
  const auto found = dueById_.find(timer.value);
  if (found == dueById_.end()) return;
  tasks_.erase(Key{found->second, timer.value});
  dueById_.erase(found);
}

std::optional<Instant> TimerQueue::nextDue() const {
  if (tasks_.empty()) return std::nullopt;
  return tasks_.begin()->first.first;
}

Task TimerQueue::popDue(Instant now) {
  if (tasks_.empty() || tasks_.begin()->first.first > now) return {};
  const auto first = tasks_.begin();
  Task task = std::move(first->second);
  dueById_.erase(first->first.second);
  tasks_.erase(first);
  return task;
}

}  // namespace trainyard::base
