#include "sim/scheduler/queue.h"

#include <algorithm>

namespace trainyard::sim {

void SchedulingQueue::add(const model::Uid& pod, int priority, base::Instant) {
  const auto [at, added] = pods_.try_emplace(pod);
  if (!added) return;
  at->second.priority = priority;
  at->second.order = ++lastOrder_;
  active_.insert(rankOf(pod, at->second));
}

void SchedulingQueue::remove(const model::Uid& pod) {
  const auto found = pods_.find(pod);
  if (found == pods_.end()) return;
  active_.erase(rankOf(pod, found->second));
  pods_.erase(found);
}

void SchedulingQueue::bringBack(const model::Uid& pod, Entry& entry, base::Instant now) {
  if (now < entry.backoffEnd) {
    entry.place = Place::kBackoff;
    return;
  }
  entry.place = Place::kActive;
  active_.insert(rankOf(pod, entry));
}

void SchedulingQueue::edited(const model::Uid& pod, base::Instant now) {
  const auto found = pods_.find(pod);
  if (found == pods_.end() || found->second.place != Place::kUnschedulable) return;
  bringBack(pod, found->second, now);
}

void SchedulingQueue::happened(Event event, base::Instant now) {
  for (auto& [pod, entry] : pods_) {
    if (entry.place != Place::kUnschedulable) continue;
    if (event == Event::kOther && entry.waits != Waits::kForAnything) continue;
    bringBack(pod, entry, now);
  }
}

void SchedulingQueue::ripen(base::Instant now) {
  for (auto& [pod, entry] : pods_) {
    const bool rested = entry.place == Place::kBackoff && entry.backoffEnd <= now;
    const bool stale = entry.place == Place::kUnschedulable && entry.since + times_.maxUnschedulable <= now;
    if (rested || stale) bringBack(pod, entry, now);
  }
}

std::optional<model::Uid> SchedulingQueue::pop(base::Instant now) {
  ripen(now);
  if (active_.empty()) return std::nullopt;
  const model::Uid pod = std::get<model::Uid>(*active_.begin());
  active_.erase(active_.begin());
  pods_.at(pod).place = Place::kTaken;
  return pod;
}

base::Instant::duration SchedulingQueue::backoffOf(int attempts) const {
  base::Instant::duration backoff = times_.initialBackoff;
  for (int i = 1; i < attempts && backoff < times_.maxBackoff; ++i) backoff *= 2;
  return std::min(backoff, times_.maxBackoff);
}

void SchedulingQueue::failed(const model::Uid& pod, Waits waits, base::Instant now) {
  const auto found = pods_.find(pod);
  if (found == pods_.end()) return;
  Entry& entry = found->second;
  entry.waits = waits;
  entry.since = now;
  entry.backoffEnd = now + backoffOf(++entry.attempts);
  entry.place = waits == Waits::kBackoffOnly ? Place::kBackoff : Place::kUnschedulable;
}

std::optional<base::Instant> SchedulingQueue::nextDue(base::Instant now) const {
  if (!active_.empty()) return now;
  std::optional<base::Instant> due;
  for (const auto& [pod, entry] : pods_) {
    if (entry.place == Place::kTaken) continue;
    const base::Instant at =
        entry.place == Place::kBackoff ? entry.backoffEnd : entry.since + times_.maxUnschedulable;
    due = due ? std::min(*due, at) : at;
  }
  return due;
}

}  // namespace trainyard::sim
