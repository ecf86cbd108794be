#include "core/timeline/limit_starts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/saturating.h"
#include "core/queues/holdings.h"

namespace trainyard::core {
namespace {

bool isAtOrBelow(const QueueTree& tree, QueueTree::Index queue, QueueTree::Index at) {
  if (queue == QueueTree::kCluster) return false;
  const auto& path = tree.node(queue).path;
  return std::find(path.begin(), path.end(), at) != path.end();
}

std::int64_t nodesOf(const model::GangRecord& gang) {
  std::set<model::NodeName> nodes;
  if (gang.placed) {
    for (const model::Assignment& each : gang.placed->assignments) nodes.insert(each.node);
  }
  if (gang.proposal) {
    for (const model::Assignment& each : gang.proposal->add) nodes.insert(each.node);
  }
  return static_cast<std::int64_t>(nodes.size());
}

}  // namespace

QuotaHolders::QuotaHolders(const QueueTree& tree, Ends& ends) : tree_(tree), byQueue_(tree.size()) {
  for (const Ending& each : ends.all()) {
    if (!each.job->finished())
      byQueue_[tree.queueOf(*each.job)].push_back({each.job, each.at, each.basis, 0});
  }
}

std::vector<QuotaHolders::Holder> QuotaHolders::of(QueueTree::Index at, std::size_t dimension) const {
  std::vector<Holder> holders;
  for (QueueTree::Index queue = 1; queue < byQueue_.size(); ++queue) {
    if (byQueue_[queue].empty() || !isAtOrBelow(tree_, queue, at)) continue;
    for (Holder each : byQueue_[queue]) {
      each.amount = holdingsOf(tree_.capacity(), *each.job)[dimension];
      if (each.amount > 0) holders.push_back(each);
    }
  }
  std::sort(holders.begin(), holders.end(), [](const Holder& a, const Holder& b) {
    return a.end != b.end ? a.end < b.end : a.job->key < b.job->key;
  });
  return holders;
}

Blockers limitHolders(const QueueTree& tree, QueueTree::Index at, std::size_t dimension,
                      const QuotaHolders& all) {
  std::vector<std::pair<std::int64_t, const model::Job*>> holders;
  for (const QuotaHolders::Holder& each : all.of(at, dimension)) holders.emplace_back(each.amount, each.job);
  const std::size_t named = std::min(kNamedBlockers, holders.size());
  std::partial_sort(holders.begin(), holders.begin() + static_cast<std::ptrdiff_t>(named), holders.end(),
                    [](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : a.second->key < b.second->key;
                    });
  Blockers blockers;
  for (std::size_t i = 0; i < named; ++i) {
    const auto& [held, job] = holders[i];
    const Amounts amounts = holdingsOf(tree.capacity(), *job);
    std::int64_t gpus = 0;
    for (std::size_t d = 0; d < tree.dimensions().cpu(); ++d) gpus = base::saturatingAdd(gpus, amounts[d]);
    blockers.jobs.push_back(
        {.key = job->key, .uid = job->uid, .amount = held, .gpus = gpus, .nodes = nodesOf(job->status.gang)});
  }
  blockers.moreJobs = static_cast<std::int64_t>(holders.size() - named);
  return blockers;
}

LimitStarts::LimitStarts(const QueueTree& tree, QueueTree::Index at, std::size_t dimension,
                         std::int64_t bound, base::WallTime now, const QuotaHolders& holders)
    : usage_(base::saturatingAdd(tree.node(at).usage[dimension],
                                 std::max<std::int64_t>(tree.node(at).leaving[dimension], 0))),
      bound_(bound),
      time_(now) {
  // Pods that are terminating already are gone within moments.
  if (const std::int64_t leaving = tree.node(at).leaving[dimension]; leaving > 0)
    releases_.push_back({now + kMinOverrun, leaving, false});
  for (const QuotaHolders::Holder& each : holders.of(at, dimension))
    releases_.push_back({each.end, each.amount, each.basis == Basis::kGuess});
  std::stable_sort(releases_.begin(), releases_.end(),
                   [](const Release& a, const Release& b) { return a.at < b.at; });
}

std::optional<base::WallTime> LimitStarts::start(std::int64_t amount, const ExpectedRun& run,
                                                 std::optional<base::WallTime> notBefore) {
  if (lost_) return std::nullopt;
  if (notBefore) time_ = std::max(time_, *notBefore);
  while (base::saturatingAdd(usage_, amount) > bound_) {
    if (next_ == releases_.size() || releases_[next_].guess) {
      lost_ = true;
      return std::nullopt;
    }
    time_ = std::max(time_, releases_[next_].at);
    usage_ = base::saturatingSubtract(usage_, releases_[next_].amount);
    ++next_;
  }
  usage_ = base::saturatingAdd(usage_, amount);
  const Release own{time_ + run.time, amount, run.basis == Basis::kGuess};
  const auto place = std::upper_bound(releases_.begin() + static_cast<std::ptrdiff_t>(next_), releases_.end(),
                                      own, [](const Release& a, const Release& b) { return a.at < b.at; });
  releases_.insert(place, own);
  return time_;
}

}  // namespace trainyard::core
