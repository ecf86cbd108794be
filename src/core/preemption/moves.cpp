#include "core/preemption/moves.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/saturating.h"
#include "core/ledger/what_if.h"
#include "core/order/preemption_cost.h"
#include "core/queues/eligibility.h"
#include "core/queues/guarantee.h"
#include "core/queues/holdings.h"
#include "core/queues/quota_check.h"
#include "core/timeline/earliest_fit.h"
#include "model/charge.h"

namespace trainyard::core {
namespace {

using model::Job;
using std::chrono::seconds;

seconds wholeSeconds(base::WallTime::duration time) { return std::chrono::duration_cast<seconds>(time); }

class MoveSearch {
 public:
  MoveSearch(const MoveQuestion& question, const Preemptor& preemptor, std::size_t widest)
      : in_(question), preemptor_(preemptor), widest_(widest) {}

  std::optional<Claim> run(const std::vector<const Candidate*>& preemptibleNow) {
    if (preemptor_.demand[0] == 0 || freeGpus() < preemptor_.demand[0]) return std::nullopt;
    listMovable(preemptibleNow);
    tryEach();
    tryPairs();
    if (!best_ || gain(waitOfPreemptor()) < worth(bestLoss_)) return std::nullopt;
    return std::move(best_);
  }

 private:
  struct Movable {
    const Candidate* gang = nullptr;
    std::int64_t loss = 0;  // GPU seconds
    NodeAmounts holds = {};
  };
  using Set = std::vector<const Movable*>;

  std::int64_t freeGpus() const {
    std::int64_t gpus = 0;
    for (const Ledger::NodeCapacity& capacity : in_.ledger.nodes()) {
      if (capacity.node->takesPods()) gpus += std::max<std::int64_t>(capacity.freeGpus, 0);
    }
    return gpus;
  }

  // --- step 1

  void listMovable(const std::vector<const Candidate*>& preemptibleNow) {
    const std::int64_t most = gain(runOfPreemptor());
    for (const Candidate* each : preemptibleNow) {
      const Movable movable{each, preemptionCostInGpuSeconds(*each->job, in_.snapshot)};
      if (most >= worth(movable.loss) && mayMove(*each)) movable_.push_back(movable);
    }
    std::sort(movable_.begin(), movable_.end(), [](const Movable& a, const Movable& b) {
      return std::tie(a.loss, a.gang->job->key) < std::tie(b.loss, b.gang->job->key);
    });
    if (movable_.size() > kMaxMovable) movable_.resize(kMaxMovable);
    for (Movable& each : movable_) each.holds = capacityHeldBy(*each.gang->job, in_.ledger);
    std::erase_if(movable_, [](const Movable& each) { return each.holds.empty(); });
  }

  bool mayMove(const Candidate& each) const {
    if (!mayBePlacedAgain(*each.job)) return false;
    if (each.priority > preemptor_.priority) return false;
    const auto& node = in_.queues.node(each.queue);
    if (each.queue == preemptor_.queue) return !forbidsPreemptionWithin(node);
    // As for fair share: each move by another queue protects the gang for twice as long. (Rejected: for
    // minRuntime. A tenant could have a job without checkpoints moved every five minutes for good.)
    if (!each.isUnprotected) return false;
    const QueueTree::Index branch = in_.queues.branches(preemptor_.queue, each.queue).b;
    return std::all_of(std::find(node.path.begin(), node.path.end(), branch), node.path.end(),
                       [&](auto queue) {
                         return yieldsShare(in_.queues, queue, {each.held, each.held}, preemptor_.demand);
                       });
  }

  // A move needs new pods. A gang that is suspended, or was edited since its placement, would end without
  // starting again: that is a preemption, not a move.
  [[nodiscard]] bool mayBePlacedAgain(const Job& job) const {
    return !job.spec.run.suspend && job.specError.empty() &&
           model::sameCharge(job, in_.queues.requestedQueueOf(job));
  }

  // --- step 2

  void tryEach() {
    for (const Movable& each : movable_) {
      if (consider({&each}, each.loss)) return;
    }
  }

  // The cheapest first. A pair that costs as much as the best single move is no gain.
  void tryPairs() {
    struct Pair {
      std::int64_t loss = 0;
      std::size_t a = 0;
      std::size_t b = 0;
    };
    std::vector<Pair> pairs;
    for (std::size_t a = 0; a < movable_.size(); ++a) {
      for (std::size_t b = a + 1; b < movable_.size(); ++b) {
        const std::int64_t loss = base::saturatingAdd(movable_[a].loss, movable_[b].loss);
        if (!best_ || loss < bestLoss_) pairs.push_back({loss, a, b});
      }
    }
    std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
      return std::tie(a.loss, a.a, a.b) < std::tie(b.loss, b.a, b.b);
    });
    for (const Pair& pair : pairs) {
      if (tries_ >= kMaxTries || gain(runOfPreemptor()) < worth(pair.loss)) return;
      if (consider({&movable_[pair.a], &movable_[pair.b]}, pair.loss)) return;
    }
  }

  // Keeps the set as the best if the preemptor and all moved gangs have a placement.
  bool consider(const Set& set, std::int64_t loss) {
    if (tries_++ >= kMaxTries) return false;
    auto arranged = arrange(set);
    if (!arranged || !quotasAllow(*arranged)) return false;
    best_ = std::move(arranged);
    bestLoss_ = loss;
    return true;
  }

  std::optional<Claim> arrange(const Set& set) {
    WhatIf whatIf(in_.ledger);
    for (const Movable* each : set) whatIf.release(each->holds);
    auto placement = in_.placer.tryClaim(*preemptor_.job, widest_);
    if (!placement) return std::nullopt;
    whatIf.take(amountsOf(*preemptor_.job, placement->assignments, in_.ledger));
    Claim arranged{std::move(*placement), {}};
    for (const Movable* each : largestFirst(set)) {
      auto place = placeAgain(*each, set, arranged.placement);
      if (!place) return std::nullopt;
      whatIf.take(amountsOf(*each->gang->job, place->assignments, in_.ledger));
      arranged.releases.push_back({.job = each->gang->job,
                                   .kind = ChangeKind::kMove,
                                   .add = std::move(*place),
                                   .remove = each->gang->job->status.gang.placed->assignments,
                                   .preemptor = preemptor_.job->key});
    }
    return arranged;
  }

  static Set largestFirst(Set set) {
    std::stable_sort(set.begin(), set.end(), [](const Movable* a, const Movable* b) {
      return a->gang->job->status.gpus > b->gang->job->status.gpus;
    });
    return set;
  }

  [[nodiscard]] std::size_t positionOf(const Job& job) const { return in_.snapshot.jobs.positionOf(job.key); }

  // As close together as a gang that has just been created.
  std::optional<Placement> placeAgain(const Movable& moved, const Set& set, const Placement& claimed) {
    const Job& job = *moved.gang->job;
    const GangShape shape = in_.placer.shapeOf(job, job.status.gpus, positionOf(job));
    PlaceRequest request = in_.placer.request(job, shape.relaxation.widest);
    for (const Movable* other : set) {
      for (const auto& [node, amount] : other->holds) {
        const model::NodeName& name = in_.ledger.nodes()[node].node->name;
        const bool wanted =
            std::any_of(claimed.assignments.begin(), claimed.assignments.end(),
                        [&](const model::Assignment& assignment) { return assignment.node == name; });
        if (other != &moved || wanted) request.avoidNodes.push_back(name);
      }
    }
    return in_.placer.tryPlace(request);
  }

  // Quotas can change only by types of GPUs.
  bool quotasAllow(const Claim& arranged) {
    QueueTree& tree = in_.queues;
    struct Held {
      QueueTree::Index queue = QueueTree::kCluster;
      Amounts before, after;
    };
    std::vector<Held> changes;
    for (const core::Change& move : arranged.releases) {
      changes.push_back({tree.queueOf(*move.job), holdingsOf(tree.capacity(), *move.job),
                         heldBy(tree.capacity(), *move.job, move.add.assignments)});
    }
    for (const Held& each : changes) tree.discharge(each.queue, each.before, false);
    std::size_t charged = 0;
    bool allowed = true;
    for (; charged < changes.size() && allowed; ++charged) {
      const Held& each = changes[charged];
      // A gang that keeps its type of GPU is not held back by pods of that type that are terminating.
      Amounts gained = each.after;
      for (std::size_t d = 0; d < gained.size(); ++d) {
        if (each.after[d] <= each.before[d]) gained[d] = 0;
      }
      allowed =
          !beyondLimit(tree, each.queue, each.after) && !beyondLimitWithLeaving(tree, each.queue, gained);
      tree.charge(changes[charged].queue, changes[charged].after, false);
    }
    const auto wanted = heldBy(tree.capacity(), *preemptor_.job, arranged.placement.assignments);
    allowed = allowed && !exceededQuota(tree, preemptor_.queue, wanted, preemptor_.job->spec.preemptible);
    for (std::size_t i = 0; i < charged; ++i) tree.discharge(changes[i].queue, changes[i].after, false);
    for (const Held& each : changes) tree.charge(each.queue, each.before, false);
    return allowed;
  }

  // --- step 3

  seconds runOfPreemptor() const { return expectedRun(*preemptor_.job, in_.snapshot.now, in_.runs).time; }

  // The GPU seconds that the preemptor gains if it does not wait that long.
  std::int64_t gain(seconds wait) const {
    return base::saturatingMultiply(std::min(wait, runOfPreemptor()).count(), preemptor_.demand[0]);
  }

  std::int64_t worth(std::int64_t loss) const {
    constexpr std::int64_t kPermille = 1'000;
    return base::saturatingMultiply(loss, in_.snapshot.policy.defragmentation.gainPermille) / kPermille;
  }

  // How long the preemptor would wait for other gangs to end; for ever if that does not help.
  seconds waitOfPreemptor() {
    const auto fit = earliestFit(*preemptor_.job, {}, widest_, in_.ledger, in_.ends, in_.placer);
    return fit ? wholeSeconds(fit->time.at - in_.snapshot.now) : seconds::max();
  }

  const MoveQuestion& in_;
  const Preemptor& preemptor_;
  std::size_t widest_;
  std::vector<Movable> movable_;  // cheapest first
  int tries_ = 0;
  std::optional<Claim> best_;
  std::int64_t bestLoss_ = 0;
};

}  // namespace

std::optional<Claim> chooseMoves(const MoveQuestion& question, const Preemptor& preemptor, std::size_t widest,
                                 const std::vector<const Candidate*>& preemptibleNow) {
  return MoveSearch(question, preemptor, widest).run(preemptibleNow);
}

}  // namespace trainyard::core
