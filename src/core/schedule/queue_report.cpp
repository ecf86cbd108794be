#include "core/schedule/queue_report.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "base/saturating.h"
#include "core/queues/decayed_usage.h"
#include "core/queues/fair_share.h"
#include "core/status/explain_queue.h"
#include "model/conditions.h"
#include "model/set_condition.h"

namespace trainyard::core {
namespace {

constexpr std::chrono::minutes kDecayedEvery{1};

std::int64_t thousandths(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : base::scaled(part, 1000, whole);
}

// Returns the GPU resource with the largest capacity; cpu if the cluster has no GPUs.
std::size_t sharedBy(const QueueTree& tree) {
  const auto& capacity = tree.capacity().available();
  const auto gpus = capacity.begin() + static_cast<std::ptrdiff_t>(tree.dimensions().cpu());
  const auto most = std::max_element(capacity.begin(), gpus);
  return *most > 0 ? static_cast<std::size_t>(most - capacity.begin()) : tree.dimensions().cpu();
}

model::QueueGpus gpusOf(const QueueTree& tree, const QueueTree::Node& node) {
  model::QueueGpus gpus;
  gpus.limit = 0;
  for (std::size_t d = 0; d < tree.dimensions().cpu(); ++d) {
    gpus.used = base::saturatingAdd(gpus.used, base::saturatingAdd(node.usage[d], node.leaving[d]));
    gpus.guaranteed = base::saturatingAdd(gpus.guaranteed, node.guaranteed[d]);
    if (node.limit[d] == QueueTree::kNoLimit) {
      gpus.limit.reset();
    } else if (gpus.limit) {
      gpus.limit = base::saturatingAdd(*gpus.limit, node.limit[d]);
    }
  }
  return gpus;
}

// Reports that a limit was lowered below what the queue holds; nothing is preempted for that. The records may
// also exceed the limit for a moment, when one job has ended and another takes its nodes. So the excess is
// reported only if the written status shows it as well.
std::string overLimit(const QueueTree& tree, const QueueTree::Node& node) {
  for (std::size_t d = 0; d < node.usage.size(); ++d) {
    const std::int64_t written = (*node.queue)->status.usage.amount(tree.dimensions().names()[d]);
    if (node.usage[d] <= node.limit[d] || written <= node.limit[d]) continue;
    return fmt::format(
        "the queue holds {} of at most {}: its jobs keep running, and none starts until enough have ended",
        tree.dimensions().plainText(d, node.usage[d]), tree.dimensions().text(d, node.limit[d]));
  }
  return {};
}

// The decayed usage is written together with other changes, and at least once a minute.
void keepDecayed(const model::QueueStatus& before, const std::vector<std::string>& resources,
                 const model::Snapshot& snapshot, model::QueueStatus& status) {
  const auto& halfLife = snapshot.policy.usageHalfLife;
  if (!halfLife) {
    status.decayedUsage = {};
    status.decayedAt.reset();
    return;
  }
  if (status == before && status.decayedAt && snapshot.now - *status.decayedAt < kDecayedEvery) return;
  status.decayedUsage = {};
  for (std::size_t d = 0; d < resources.size(); ++d) {
    const std::int64_t decayed =
        decayedUsage(before, resources[d], before.usage.amount(resources[d]), snapshot.now, *halfLife);
    if (decayed > 0) status.decayedUsage.set(resources[d], decayed);
  }
  status.decayedAt = snapshot.now;
}

}  // namespace

void QueueReport::countWaiting(const std::vector<PendingJob>& pendingJobs) {
  // A cluster is shared by its GPUs, if it has any.
  dimension_ = sharedBy(tree_);
  waitingDemand_.assign(tree_.size(), 0);
  waiting_.assign(tree_.size(), 0);
  for (const PendingJob& pendingJob : pendingJobs) {
    ++waiting_[pendingJob.queue];
    waitingDemand_[pendingJob.queue] =
        base::saturatingAdd(waitingDemand_[pendingJob.queue], pendingJob.demand[dimension_]);
  }
  fairShares_ = fairShares(tree_, dimension_, waitingDemand_);
  auto wanted = static_cast<double>(tree_.node(QueueTree::kCluster).usage[dimension_]);
  for (const std::int64_t demand : waitingDemand_) wanted += static_cast<double>(demand);
  load_ = std::max(
      1.0, wanted / static_cast<double>(std::max<std::int64_t>(tree_.capacity().available()[dimension_], 1)));
}

bool QueueReport::isBelowShare(QueueTree::Index queue) const {
  const auto& path = tree_.node(queue).path;
  return std::all_of(path.begin(), path.end(),
                     [&](QueueTree::Index at) { return tree_.node(at).usage[dimension_] < fairShares_[at]; });
}

model::Pending QueueReport::classify(const PendingJob& pendingJob, const model::Pending& failure) const {
  model::Pending pending = failure;
  const model::PendingReasonTraits& traits = model::traitsOf(failure.reason);
  pending.delay = traits.delay;
  if (!traits.waitsForCapacity) return pending;
  const std::int64_t wanted = pendingJob.demand[dimension_];
  const auto over = [&](QueueTree::Index queue) {
    return base::saturatingAdd(tree_.node(queue).usage[dimension_], wanted) > fairShares_[queue];
  };
  const auto& path = tree_.node(pendingJob.queue).path;
  const auto first = std::find_if(path.begin(), path.end(), over);
  if (wanted <= 0 || (first == path.end() && !over(QueueTree::kCluster))) return pending;
  pending.delay = model::DelayKind::kFairShare;
  // A queue with the whole cluster as its share owes others nothing. Its records may show more than that. A
  // job that has ended counts until this is written, and the job that took its nodes counts, too.
  const bool othersAreEntitled = first != path.end() &&
                                 fairShares_[*first] < tree_.capacity().available()[dimension_] &&
                                 tree_.node(*first).usage[dimension_] > fairShares_[*first];
  if (!othersAreEntitled) return pending;
  return explainShare(tree_, *first, dimension_, fairShares_[*first], failure);
}

std::vector<QueueStatusUpdate> QueueReport::updates(const model::Snapshot& snapshot,
                                                    const Schedule& schedule) {
  for (const Change& start : schedule.changes) {
    if (start.kind != ChangeKind::kStart) continue;
    --waiting_[tree_.queueOf(*start.job)];
  }
  placed_.assign(tree_.size(), 0);
  for (QueueTree::Index i = 1; i < tree_.size(); ++i) placed_[i] = tree_.node(i).admitted;
  for (const Change& start : schedule.changes) {
    if (start.kind != ChangeKind::kStart) continue;
    ++placed_[tree_.queueOf(*start.job)];
  }
  addThoseBelow(waiting_);
  addThoseBelow(placed_);
  std::vector<QueueStatusUpdate> all;
  for (QueueTree::Index i = 1; i < tree_.size(); ++i) {
    if (tree_.node(i).queue == nullptr) continue;
    const auto& queue = *tree_.node(i).queue;
    model::QueueStatus status = statusOf(i, snapshot);
    if (status != queue->status) all.push_back({queue, std::move(status)});
  }
  return all;
}

void QueueReport::addThoseBelow(std::vector<int>& counts) const {
  const std::vector<int> own = counts;
  for (QueueTree::Index i = 1; i < tree_.size(); ++i) {
    for (const QueueTree::Index at : tree_.node(i).path) {
      if (at != i) counts[at] += own[i];
    }
  }
}

std::int64_t QueueReport::fairnessLossPermille() const {
  std::int64_t loss = 0;
  for (QueueTree::Index i = 1; i < tree_.size(); ++i) {
    const QueueTree::Node& node = tree_.node(i);
    std::int64_t share = fairShares_[i];
    for (const QueueTree::Index child : node.children) share -= fairShares_[child];
    loss = base::saturatingAdd(loss, std::abs(node.ownUsage[dimension_] - share));
  }
  const std::int64_t most = base::saturatingMultiply(tree_.capacity().available()[dimension_], 2);
  return std::min<std::int64_t>(thousandths(loss, most), 1000);
}

model::QueueStatus QueueReport::statusOf(QueueTree::Index index, const model::Snapshot& snapshot) const {
  const QueueTree::Node& node = tree_.node(index);
  const model::Queue& queue = **node.queue;
  model::QueueStatus status = queue.status;
  status.observedGeneration = queue.generation;
  status.usage = {};
  std::int64_t share = 0;
  for (std::size_t d = 0; d < tree_.dimensions().firstGpuNodeResource(); ++d) {
    const std::int64_t held = base::saturatingAdd(node.usage[d], node.leaving[d]);
    if (held != 0) status.usage.set(tree_.dimensions().names()[d], held);
    if (tree_.dimensions().counts(d))
      share = std::max(share, thousandths(held, tree_.capacity().available()[d]));
  }
  status.gpus = gpusOf(tree_, node);
  status.share = share;
  status.fairShare = thousandths(fairShares_[index], tree_.capacity().available()[dimension_]);
  status.waiting = waiting_[index];
  status.placed = placed_[index];
  const bool good = node.problem.empty();
  const std::string over = good ? overLimit(tree_, node) : "";
  setCondition(status.conditions, model::conditions::kReady,
               good ? model::ConditionStatus::kTrue : model::ConditionStatus::kFalse,
               !good          ? std::string_view(node.problemReason)
               : over.empty() ? "Usable"
                              : "OverLimit",
               !good          ? node.problem
               : over.empty() ? std::string("jobs can use the queue")
                              : over,
               snapshot.now, queue.generation);
  // kstatus reads Ready=False as progress; Stalled shows that none will follow.
  if (good) {
    removeCondition(status.conditions, model::conditions::kStalled);
  } else {
    setCondition(status.conditions, model::conditions::kStalled, model::ConditionStatus::kTrue,
                 node.problemReason, "the queue cannot be used until its spec is corrected", snapshot.now,
                 queue.generation);
  }
  keepDecayed(queue.status, tree_.dimensions().names(), snapshot, status);
  return status;
}

}  // namespace trainyard::core
