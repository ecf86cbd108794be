#include "kube/event_series.h"

#include <chrono>
#include <utility>

namespace trainyard::kube {
namespace {

constexpr std::chrono::minutes kRefresh{30};
constexpr std::chrono::minutes kIdle{6};
constexpr std::size_t kMaxSeries = 20'000;

}  // namespace

bool EventSeries::isDue(base::Instant now) const {
  if (!created || written == 1) return event.count > written;
  const bool refresh = now - lastWritten >= kRefresh;
  return event.count > written && (refresh || finishing);
}

bool EventSeries::isIdle(base::Instant now) const { return now - lastSeen >= kIdle; }

bool EventSeriesTable::mayAdd(const std::string& ns) const {
  const auto found = held_.find(ns);
  const Held held = found == held_.end() ? Held() : found->second;
  return pending_ + held.pending < maxPending_ && series_.size() + held.series < kMaxSeries;
}

EventSeriesTable::Iterator EventSeriesTable::add(const std::string& key, codec::Event event) {
  ++held_[event.regarding.ns].series;
  return series_.emplace(key, EventSeries{.event = std::move(event)}).first;
}

void EventSeriesTable::setPending(EventSeries& series, bool isPending) {
  series.pending = isPending;
  Held& held = held_[series.event.regarding.ns];
  for (std::size_t* count : {&pending_, &held.pending}) *count = isPending ? *count + 1 : *count - 1;
}

EventSeriesTable::Iterator EventSeriesTable::erase(Iterator at) {
  const auto held = held_.find(at->second.event.regarding.ns);
  if (--held->second.series == 0) held_.erase(held);
  return series_.erase(at);
}

}  // namespace trainyard::kube
