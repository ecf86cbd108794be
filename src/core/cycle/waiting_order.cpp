#include "core/cycle/waiting_order.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/order/run_times.h"
#include "core/order/stop_cost.h"

namespace trainyard::core {
namespace {

bool earlier(const Contender& a, const Contender& b) {
  const model::Job& jobA = *a.waiting->job;
  const model::Job& jobB = *b.waiting->job;
  return std::tie(jobA.created, jobA.key) < std::tie(jobB.created, jobB.key);
}

base::WallTime keepsSince(const Contender& contender) {
  return contender.keepsSince.value_or(base::WallTime::max());
}

bool isServedBefore(const Contender* a, const Contender* b) {
  if (a->priority != b->priority) return a->priority > b->priority;
  if (a->overdue != b->overdue) return a->overdue;
  return a->rank.before(b->rank);
}

}  // namespace

Rank rankOf(const model::Job& job, int priority, const model::Snapshot& snapshot, RunTimeModel& forecast) {
  OrderView view;
  view.key = &job.key;
  view.priority = priority;
  view.submitted = job.created;
  view.gpus = forecast.gpusOf(job);
  view.ran = ranSoFar(job, snapshot.now);
  view.running = job.status.gang.placed.has_value();
  if (view.running) view.stopCost = stopCost(job, snapshot);
  // Who has outrun his estimate is known by it no more.
  if (const auto remaining = estimatedRemaining(job, snapshot.now); remaining && remaining->count() > 0) {
    view.remaining = *remaining;
  } else if (model::traitsOf(snapshot.policy.ordering).learns) {
    view.gittinsIndex = forecast.rate(job);
  }
  OrderSettings settings{.ordering = snapshot.policy.ordering};
  if (!snapshot.policy.lasLimits.empty()) settings.lasLimits = snapshot.policy.lasLimits;
  return rankOf(view, settings);
}

WaitingOrder::WaitingOrder(const QueueTree& tree, const std::vector<Contender>& contenders) : tree_(tree) {
  std::map<QueueTree::Index, Line> lines;
  for (const Contender& contender : contenders) lines[contender.queue].jobs.push_back(&contender);
  for (auto& [queue, line] : lines) {
    std::stable_sort(line.jobs.begin(), line.jobs.end(), isServedBefore);
    lines_.push_back(std::move(line));
  }
}

bool WaitingOrder::before(const Line& a, const Line& b) const {
  const Contender& jobA = *a.jobs[a.head];
  const Contender& jobB = *b.jobs[b.head];
  if (keepsSince(jobA) != keepsSince(jobB)) return keepsSince(jobA) < keepsSince(jobB);
  const QueueTree::Servings servings = tree_.servings(jobA.queue, jobB.queue);
  const std::int64_t shareA = shareOf(servings.a, jobA.demand);
  const std::int64_t shareB = shareOf(servings.b, jobB.demand);
  return shareA != shareB ? shareA < shareB : earlier(jobA, jobB);
}

std::int64_t WaitingOrder::shareOf(const QueueTree::Serving& serving,
                                   const QueueTree::Amounts& demand) const {
  if (serving.branch >= shares_.size()) shares_.resize(serving.branch + 1);
  Share& known = shares_[serving.branch][serving.isAbove ? 1 : 0];
  if (known.demand != &demand) known = {&demand, tree_.servingShare(serving, demand)};
  return known.share;
}

const Contender* WaitingOrder::next() {
  const auto later = [&](const Line& a, const Line& b) { return before(b, a); };
  if (stale_) {
    std::make_heap(lines_.begin(), lines_.end(), later);
    served_ = false;
    stale_ = false;
  }
  // The line that was served last has another job at its head now.
  if (std::exchange(served_, false)) std::push_heap(lines_.begin(), lines_.end(), later);
  if (lines_.empty()) return nullptr;
  std::pop_heap(lines_.begin(), lines_.end(), later);
  Line& line = lines_.back();
  const Contender* contender = line.jobs[line.head];
  if (++line.head == line.jobs.size())
    lines_.pop_back();
  else
    served_ = true;
  return contender;
}

}  // namespace trainyard::core
