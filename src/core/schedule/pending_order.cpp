#include "core/schedule/pending_order.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/order/preemption_cost.h"
#include "core/order/queue_position_facts.h"
#include "core/queues/eligibility.h"
#include "core/queues/guarantee.h"
#include "core/queues/queue_share.h"

namespace trainyard::core {
namespace {

bool earlier(const PendingJob& a, const PendingJob& b) {
  return std::tie(a.queuePosition.submitted, *a.queuePosition.key) <
         std::tie(b.queuePosition.submitted, *b.queuePosition.key);
}

base::WallTime reservationSince(const PendingJob& pendingJob) {
  return pendingJob.reservationSince.value_or(base::WallTime::max());
}

bool isServedBefore(const PendingJob* a, const PendingJob* b) {
  if (a->priority != b->priority) return a->priority > b->priority;
  if (a->overdue != b->overdue) return a->overdue;
  return a->queuePosition.before(b->queuePosition);
}

// A job that cannot be preempted may run beyond its estimate and beyond the run times of similar jobs. Only
// its own deadline ends it.
void useDeadline(const model::JobSpec& spec, OrderView& view) {
  if (spec.preemptible) return;
  view.gittinsIndex.reset();
  view.remaining = spec.run.activeDeadline;
  view.isUnbounded = !spec.run.activeDeadline;
}

// The view of a job that does not run.
OrderView viewOf(const model::Job& job, int priority, const QueuePositionFacts& facts,
                 model::Ordering ordering, RunTimeModel& forecast) {
  OrderView view;
  view.key = &job.key;
  view.priority = priority;
  view.submitted = facts.submitted;
  view.gpus = facts.gpus;
  view.ran = facts.ran;
  // An estimate that the job has exceeded no longer predicts its end.
  if (facts.remaining && facts.remaining->count() > 0) {
    view.remaining = *facts.remaining;
  } else if (model::traitsOf(ordering).learns) {
    view.gittinsIndex = forecast.rate(facts.question, job);
  }
  useDeadline(job.spec, view);
  return view;
}

}  // namespace

QueuePosition queuePositionOf(const model::Job& job, int priority, const model::Snapshot& snapshot,
                              RunTimeModel& forecast) {
  OrderView view = viewOf(job, priority, queuePositionFactsOf(job, snapshot.now, forecast),
                          snapshot.policy.ordering, forecast);
  view.running = job.status.gang.placed.has_value();
  if (view.running) view.preemptionCost = preemptionCost(job, snapshot);
  return queuePositionOf(view, orderSettings(snapshot.policy));
}

QueuePosition queuePositionOf(const model::Job& job, int priority, const QueuePositionFacts& standing,
                              const OrderSettings& settings, RunTimeModel& forecast) {
  return queuePositionOf(viewOf(job, priority, standing, settings.ordering, forecast), settings);
}

OrderSettings orderSettings(const model::Policy& policy) {
  OrderSettings settings{.ordering = policy.ordering};
  if (!policy.lasLimits.empty()) settings.lasLimits = policy.lasLimits;
  return settings;
}

bool isOrderOfCreation(model::Ordering ordering) {
  switch (ordering) {
    case model::Ordering::kFifo: return true;
    case model::Ordering::kLas:
    case model::Ordering::kSrtf:
    case model::Ordering::kSrsf:
    case model::Ordering::kDefault: break;
  }
  return false;
}

PendingOrder::PendingOrder(const QueueTree& tree, const std::vector<PendingJob>& pendingJobs) : tree_(tree) {
  std::vector<std::vector<const PendingJob*>> byQueue(tree.size());
  for (const PendingJob& pendingJob : pendingJobs) byQueue[pendingJob.queue].push_back(&pendingJob);
  for (QueueTree::Index queue = 0; queue < byQueue.size(); ++queue) {
    if (byQueue[queue].empty()) continue;
    std::stable_sort(byQueue[queue].begin(), byQueue[queue].end(), isServedBefore);
    heap_.push_back(lines_.size());
    const auto& path = tree.node(queue).path;
    lines_.push_back({.jobs = std::move(byQueue[queue]), .isRoot = path.size() == 1});
  }
}

bool PendingOrder::before(const Line& a, const Line& b) const {
  const PendingJob& jobA = *a.jobs[a.head];
  const PendingJob& jobB = *b.jobs[b.head];
  if (a.isWithinGuarantee != b.isWithinGuarantee) return a.isWithinGuarantee;
  if (jobA.reservationSince != jobB.reservationSince) return reservationSince(jobA) < reservationSince(jobB);
  std::int64_t shareA = a.share;
  std::int64_t shareB = b.share;
  if (!a.isRoot || !b.isRoot) {
    const auto [branchA, branchB] = comparedBranches(tree_, jobA.queue, jobB.queue);
    shareA = shareOf(branchA, jobA.demand);
    shareB = shareOf(branchB, jobB.demand);
  }
  return shareA != shareB ? shareA < shareB : earlier(jobA, jobB);
}

void PendingOrder::weigh(Line& line) const {
  const PendingJob& head = *line.jobs[line.head];
  line.isWithinGuarantee = isWithinGuarantee(tree_, head.queue, head.demand);
  if (!line.isRoot) return;
  line.share = shareOf({head.queue, false}, head.demand);
}

std::int64_t PendingOrder::shareOf(const ComparedBranch& compared, const Amounts& demand) const {
  if (compared.branch >= shares_.size()) shares_.resize(compared.branch + 1);
  Share& known = shares_[compared.branch][compared.isAbove ? 1 : 0];
  if (known.demand != &demand) known = {&demand, comparedShare(tree_, compared, demand)};
  return known.share;
}

const PendingJob* PendingOrder::next() {
  const auto later = [&](std::size_t a, std::size_t b) { return before(lines_[b], lines_[a]); };
  if (stale_) {
    for (const std::size_t line : heap_) weigh(lines_[line]);
    std::make_heap(heap_.begin(), heap_.end(), later);
    served_ = false;
    stale_ = false;
  }
  // The line that was served last has another job at its head now.
  if (std::exchange(served_, false)) {
    weigh(lines_[heap_.back()]);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  if (heap_.empty()) return nullptr;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  Line& line = lines_[heap_.back()];
  const PendingJob* pendingJob = line.jobs[line.head];
  if (++line.head == line.jobs.size())
    heap_.pop_back();
  else
    served_ = true;
  return pendingJob;
}

}  // namespace trainyard::core
