#include "core/cycle/schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/cycle/queue_report.h"
#include "core/cycle/waiting_order.h"
#include "core/place/gang_placer.h"
#include "core/preemption/defragment.h"
#include "core/preemption/preemption.h"
#include "core/queues/eligibility.h"
#include "core/queues/priority.h"
#include "core/queues/queue_tree.h"
#include "core/status/explain.h"
#include "core/status/explain_queue.h"
#include "core/timeline/backfill.h"
#include "core/timeline/head.h"

namespace trainyard::core {
namespace {

using model::Job;
using model::Pending;
using model::PendingReason;
using JobPtr = std::shared_ptr<const Job>;
using PendingPtr = std::shared_ptr<const Pending>;

bool waitsForRoom(const Pending& pending) {
  return pending.reason == PendingReason::kWaitingForCapacity ||
         pending.reason == PendingReason::kWaitingForTopology;
}

class Scheduler {
 public:
  explicit Scheduler(const ScheduleRequest& request)
      : request_(request),
        snapshot_(request.snapshot),
        ledger_(request.ledger),
        tree_(request.queues),
        placer_(snapshot_, ledger_, request.domains, request.cache),
        forecast_(snapshot_),
        preemption_(
            snapshot_, request.cache.notes, ledger_, tree_, placer_,
            [this](const Job& job, int priority) { return rankOf(job, priority, snapshot_, forecast_); }),
        report_(tree_),
        starting_(request.startingMembers) {
    request.cache.notes.follow(snapshot_.jobs);
  }

  Schedule run() {
    const std::vector<Contender> contenders = listContenders();
    report_.countWaiting(contenders);
    WaitingOrder order(tree_, contenders);
    while (const Contender* contender = order.next()) {
      if (consider(*contender)) order.charged();
    }
    if (head_) {
      tellOthers();
      keepHead();
    }
    request_.cache.told = std::move(told_);
    wakeAt(preemption_.wakeAt());
    schedule_.queues = report_.news(snapshot_, schedule_);
    return std::move(schedule_);
  }

 private:
  std::vector<Contender> listContenders() {
    const Priorities priorities(snapshot_);
    std::vector<Contender> contenders;
    contenders.reserve(request_.waiting.size());
    schedule_.waits.reserve(request_.waiting.size());
    std::size_t position = 0;
    for (const WaitingJob& waiting : request_.waiting) {
      const Job& job = *waiting.job;
      const int priority = priorities.of(job);
      position = request_.cache.notes.find(waiting.job, position);
      const auto [demand, isNew] = demands_.try_emplace(request_.cache.shapeOf(job, position));
      if (isNew) demand->second = tree_.demandOf(job);
      contenders.push_back({&waiting, priority, tree_.find(job.spec.queue).value_or(QueueTree::kCluster),
                            demand->second, rankOf(job, priority, snapshot_, forecast_), position++});
    }
    return contenders;
  }

  // Returns whether it was charged to its queue.
  bool consider(const Contender& contender) {
    if (starting_ >= request_.mostStartingMembers) {
      wait(contender, startingPending_, true);
      return false;
    }
    if (const auto stopped = stopped_.find(contender.queue); stopped != stopped_.end()) {
      wait(contender, stopped->second);
      return false;
    }
    if (const auto beyond = tree_.beyondLimit(contender.queue, contender.demand)) {
      return outOfQuota(contender, *beyond);
    }
    if (!contender.waiting->job->spec.preemptible) {
      if (const auto beyond = tree_.beyondNonPreemptible(contender.queue, contender.demand)) {
        wait(contender, std::make_shared<Pending>(explainNonPreemptible(tree_, *beyond)));
        return false;
      }
    }
    return findPlaces(contender);
  }

  bool findPlaces(const Contender& contender) {
    const GangShape shape = shapeOf(contender);
    if (const PendingPtr known = knownFailure(contender, shape))
      return withoutPlaces(contender, shape, known);
    if (equalWasHeldBack(contender, shape)) return false;
    auto placed = placeInQuota(contender, shape);
    if (auto* placement = std::get_if<Placement>(&placed)) {
      const Head::Verdict verdict = judge(contender, *placement);
      if (verdict != Head::Verdict::kPasses) {
        auto beside = besideKept(contender, shape);
        if (!beside) {
          holdBack(contender, shape, verdict == Head::Verdict::kKeptBriefly);
          return false;
        }
        *placement = std::move(*beside);
      }
      start(contender, std::move(*placement), {});
      return true;
    }
    auto pending = std::make_shared<const Pending>(std::move(std::get<Pending>(placed)));
    remember(contender, shape, pending);
    return withoutPlaces(contender, shape, pending);
  }

  bool withoutPlaces(const Contender& contender, const GangShape& shape, const PendingPtr& pending) {
    if (claims(contender, shape)) return true;
    if (!head_ && waitsForRoom(*pending) && movesOthers(contender, shape)) return true;
    takeOverClaim(contender, shape);
    noPlaces(contender, shape, pending);
    return false;
  }

  // Places only become fewer during a cycle: what failed for a shape fails for its equals.
  PendingPtr knownFailure(const Contender& contender, const GangShape& shape) const {
    const auto mine = failed_.find({contender.queue, shape.key, shape.relaxation.widest});
    if (mine != failed_.end()) return mine->second;
    const auto anybodys = failed_.find({QueueTree::kCluster, shape.key, shape.relaxation.widest});
    if (anybodys != failed_.end()) return anybodys->second;
    return ledger_.untouched() ? request_.cache.failure({shape.key, shape.relaxation.widest}) : nullptr;
  }

  // A quota's refusal is the queue's own.
  void remember(const Contender& contender, const GangShape& shape, const PendingPtr& failure) {
    const bool own = failure->reason == PendingReason::kWaitingForQuota;
    failed_[{own ? contender.queue : QueueTree::kCluster, shape.key, shape.relaxation.widest}] = failure;
    if (!own && ledger_.untouched()) request_.cache.remember({shape.key, shape.relaxation.widest}, failure);
  }

  // --- phase 5

  GangShape shapeOf(const Contender& contender) {
    return placer_.shapeOf(*contender.waiting->job, contender.demand[0], contender.position);
  }

  // The gang's places; without them why it waits. Nodes of a type of GPU that the queue has had enough of are
  // left out.
  std::variant<Placement, Pending> placeInQuota(const Contender& contender, const GangShape& shape) {
    const Job& job = *contender.waiting->job;
    PlaceRequest request = placer_.request(job, shape.relaxation.widest);
    std::optional<QueueTree::Excess> exhausted;
    while (true) {
      auto placed = exhausted ? place(request, ledger_, request_.domains)
                              : placeAvoiding(request, ledger_, request_.domains);
      if (const auto* failure = std::get_if<PlacementFailure>(&placed)) {
        if (exhausted) return explainLimit(tree_, contender.queue, *exhausted, contender.demand);
        return explainFailure(job, *failure, ledger_, snapshot_);
      }
      auto& placement = std::get<Placement>(placed);
      const auto beyond = tree_.beyondLimit(contender.queue, tree_.heldBy(job, placement.assignments));
      if (!beyond) return std::move(placement);
      exhausted = beyond;
      const auto nodes = tree_.nodesOfType(beyond->dimension);
      request.avoidNodes.insert(request.avoidNodes.end(), nodes.begin(), nodes.end());
    }
  }

  void start(const Contender& contender, Placement placement, std::vector<JobPtr> victims) {
    const JobPtr& job = contender.waiting->job;
    take(*job, placement);
    tree_.charge(contender.queue, tree_.heldBy(*job, placement.assignments), !job->spec.preemptible);
    schedule_.starts.push_back({job, contender.waiting->silent, std::move(placement), std::move(victims)});
    claimedInVain_.clear();
    heldBack_.clear();
  }

  void take(const Job& job, const Placement& placement) {
    for (const model::Assignment& assignment : placement.assignments) {
      const model::Role* role = job.spec.findRole(assignment.role);
      ledger_.take(*ledger_.find(assignment.node), role->shape.requests,
                   static_cast<int>(assignment.indices.size()), &job);
      starting_ += static_cast<std::int64_t>(assignment.indices.size());
    }
  }

  // --- phase 6

  Claimant claimantOf(const Contender& contender) const {
    return {contender.waiting->job.get(), contender.priority, contender.queue, contender.demand,
            !head_.has_value(),           contender.rank};
  }

  // Whether victims make room for it; then it starts at once, as a claim.
  bool claims(const Contender& contender, const GangShape& shape) {
    if (contender.waiting->silent || !preemption_.anyRunning()) return false;
    // Its equals ask the same, but the head, and those of whom one may be in turn before another.
    const bool equalsAsk = head_ && !takesTurns(snapshot_.policy);
    const std::tuple asked{contender.queue, contender.priority, shape.key, shape.relaxation.widest};
    if (equalsAsk && claimedInVain_.contains(asked)) return false;
    auto claim = preemption_.claim(claimantOf(contender), shape.relaxation.widest);
    if (!claim) {
      if (equalsAsk) claimedInVain_.insert(asked);
      return false;
    }
    start(contender, std::move(claim->placement), std::move(claim->victims));
    return true;
  }

  // Whether others make room for it by going elsewhere; asked once, for the first that has to wait.
  bool movesOthers(const Contender& contender, const GangShape& shape) {
    if (contender.waiting->silent || askedToMove_ || !snapshot_.policy.defragmentation.enabled) return false;
    askedToMove_ = true;
    auto arranged = defragment({snapshot_, ledger_, tree_, request_.domains, placer_}, claimantOf(contender),
                               shape.relaxation.widest, preemption_.stoppable());
    if (!arranged) return false;
    start(contender, std::move(arranged->placement), {});
    for (const GangMove& move : arranged->moves) {
      take(*move.job, move.placement);
      preemption_.spare(*move.job);
    }
    schedule_.starts.back().moves = std::move(arranged->moves);
    return true;
  }

  void takeOverClaim(const Contender& contender, const GangShape& shape) {
    if (!preemption_.anyClaiming()) return;
    if (const auto from = preemption_.takeOver(claimantOf(contender), shape.relaxation.widest))
      schedule_.yields.push_back({*from, contender.waiting->job->key});
  }

  // --- phase 7

  // Who found places that are kept for the head: queue, shape, how wide, and whether it can be stopped.
  using HeldBackKey = std::tuple<QueueTree::Index, std::uint32_t, std::size_t, bool>;
  struct HeldBack {
    std::optional<std::chrono::seconds> estimate;
    bool briefly = false;
  };
  static HeldBackKey heldBackKey(const Contender& contender, const GangShape& shape) {
    return {contender.queue, shape.key, shape.relaxation.widest, contender.waiting->job->spec.preemptible};
  }

  void becomeHead(const Contender& contender, const Pending& pending) {
    const JobPtr& job = contender.waiting->job;
    std::vector<Ending> ends = endings(snapshot_, ledger_);
    for (const GangStart& start : schedule_.starts)
      addEnding(ends, *start.job, start.placement.assignments, snapshot_.now, ledger_);
    // By the time it starts it may be placed as wide as it ever will.
    head_.emplace(job, contender.waiting->silent, pending, placer_.request(*job, 0), std::move(ends),
                  snapshot_, ledger_, request_.domains);
    headPosition_ = contender.position;
    reserved_ = std::make_shared<Pending>(explainReserved(*head_->job(), head_->pending()));
    wakeAt(head_->wakeAt());
  }

  Head::Verdict judge(const Contender& contender, const Placement& placement) {
    if (!head_) return Head::Verdict::kPasses;
    const auto& guaranteed = tree_.node(contender.queue).guaranteed;
    const bool entitled =
        std::any_of(guaranteed.begin(), guaranteed.end(), [](auto each) { return each > 0; }) &&
        !tree_.beyondGuarantee(contender.queue, contender.demand);
    return head_->judge(*contender.waiting->job, entitled, placement.assignments);
  }

  // Places with which it may pass: off the nodes that somebody has just left, or off the reserved ones as
  // well.
  std::optional<Placement> besideKept(const Contender& contender, const GangShape& shape) {
    std::vector<model::NodeName> avoid = head_->freedNodes();
    if (!avoid.empty()) {
      auto places = placeOff(avoid, contender, shape);
      if (places && judge(contender, *places) == Head::Verdict::kPasses) return places;
    }
    const std::vector<model::NodeName> reserved = head_->reservedNodes();
    if (reserved.empty()) return std::nullopt;
    avoid.insert(avoid.end(), reserved.begin(), reserved.end());
    auto places = placeOff(std::move(avoid), contender, shape);
    if (places && judge(contender, *places) == Head::Verdict::kPasses) return places;
    return std::nullopt;
  }

  std::optional<Placement> placeOff(std::vector<model::NodeName> nodes, const Contender& contender,
                                    const GangShape& shape) {
    const Job& job = *contender.waiting->job;
    PlaceRequest request = placer_.request(job, shape.relaxation.widest);
    request.avoidNodes = std::move(nodes);
    auto placed = place(request, ledger_, request_.domains);
    auto* placement = std::get_if<Placement>(&placed);
    if (placement == nullptr) return std::nullopt;
    if (tree_.beyondLimit(contender.queue, tree_.heldBy(job, placement->assignments))) return std::nullopt;
    return std::move(*placement);
  }

  // What is kept from one is kept from its equals, unless they say that they end earlier, or keep off nodes
  // of their own.
  bool equalWasHeldBack(const Contender& contender, const GangShape& shape) {
    const auto equal = heldBack_.find(heldBackKey(contender, shape));
    const Job& job = *contender.waiting->job;
    if (equal == heldBack_.end() || job.status.gang.backoff) return false;
    const auto& mine = job.spec.estimatedDuration;
    const auto& estimate = equal->second.estimate;
    if (mine && (!estimate || *mine < *estimate)) return false;
    sayHeldBack(contender, shape, equal->second.briefly);
    return true;
  }

  // It found places, but they are not for it.
  void holdBack(const Contender& contender, const GangShape& shape, bool briefly) {
    const Job& job = *contender.waiting->job;
    if (!job.status.gang.backoff)
      heldBack_[heldBackKey(contender, shape)] = {job.spec.estimatedDuration, briefly};
    sayHeldBack(contender, shape, briefly);
  }

  // Where the places will be anybody's in a moment, it goes on saying what it said: two writes for each of
  // thousands, otherwise, whenever a job ends.
  void sayHeldBack(const Contender& contender, const GangShape& shape, bool briefly) {
    const auto& said = contender.waiting->job->status.pending;
    const bool same = briefly && said && waitsForRoom(*said);
    if (const auto& next = shape.relaxation.next)
      wakeAt(placer_.waitingSinceOf(*contender.waiting->job, contender.position) + next->after);
    wait(contender, same ? std::make_shared<Pending>(*said) : reserved_);
  }

  // When those behind the head will start, as far as it is cheap to know.
  void tellOthers() {
    Outlook outlook = head_->outlook();
    for (GangWait& wait : schedule_.waits) {
      if (outlook.exhausted()) return;
      if (!waitsForRoom(*wait.pending) && wait.pending->reason != PendingReason::kReservedForOthers) continue;
      const auto start =
          outlook.start(placer_.request(*wait.job, 0), request_.cache.shapeOf(*wait.job, wait.position));
      if (!start) continue;
      auto told = std::make_shared<Pending>(*wait.pending);
      told->estimatedStart = steadyEstimate(*wait.job, start, snapshot_.now);
      wait.pending = std::move(told);
    }
  }

  void keepHead() {
    schedule_.waits.push_back(
        {head_->job(), head_->silent(), std::make_shared<Pending>(head_->pending()), false, headPosition_});
  }

  // --- phase 9

  void noPlaces(const Contender& contender, const GangShape& shape, const PendingPtr& pending) {
    // Nothing in it is the job's own where no relaxation is ahead; queues that stop need to know who stops
    // them.
    const bool shared = snapshot_.policy.backfill.enabled && (head_ || !waitsForRoom(*pending));
    const auto& next = shape.relaxation.next;
    const bool relaxes = next && waitsForRoom(*pending);
    std::optional<base::WallTime> nextAt;
    if (relaxes) nextAt = placer_.waitingSinceOf(*contender.waiting->job, contender.position) + next->after;
    const PlacementCache::Words key{contender.queue, shape.key, shape.relaxation.widest, nextAt,
                                    relaxes ? next->widest : 0};
    if (const auto told = told_.find(key); shared && told != told_.end())
      return wait(contender, told->second);
    Pending own = report_.classify(contender, *pending);
    if (relaxes) {
      own.nextRelaxation = nextAt;
      own.message +=
          fmt::format("; {} will do at {}", levelWords(next->widest), base::formatTime(*own.nextRelaxation));
      wakeAt(own.nextRelaxation);
    }
    if (waitsForRoom(*pending)) {
      if (!snapshot_.policy.backfill.enabled)
        stopQueue(contender, own);
      else if (!head_)
        return becomeHead(contender, own);
    }
    auto words = std::make_shared<const Pending>(std::move(own));
    // Words that did not change are the same object: then nobody compares them job by job.
    if (const auto before = request_.cache.told.find(key);
        before != request_.cache.told.end() && *before->second == *words)
      words = before->second;
    if (shared) told_.emplace(key, words);
    wait(contender, words);
  }

  // "one rack", "any place".
  std::string levelWords(std::size_t level) const {
    return level == 0 ? "any place" : fmt::format("one {}", request_.domains.levels()[level].name);
  }

  bool outOfQuota(const Contender& contender, const QueueTree::Excess& beyond) {
    if (claims(contender, shapeOf(contender))) return true;
    const auto pending =
        std::make_shared<Pending>(explainLimit(tree_, contender.queue, beyond, contender.demand));
    stopQueue(contender, *pending);
    wait(contender, pending);
    return false;
  }

  void stopQueue(const Contender& contender, const Pending& pending) {
    auto behind = std::make_shared<Pending>(explainTurn(*contender.waiting->job, pending));
    behind->delay = pending.delay;
    stopped_.emplace(contender.queue, std::move(behind));
  }

  void wait(const Contender& contender, const PendingPtr& pending, bool behindStarting = false) {
    schedule_.waits.push_back(
        {contender.waiting->job, contender.waiting->silent, pending, behindStarting, contender.position});
  }

  void wakeAt(std::optional<base::WallTime> time) {
    if (time && (!schedule_.wakeAt || *time < *schedule_.wakeAt)) schedule_.wakeAt = time;
  }

  const ScheduleRequest& request_;
  const model::Snapshot& snapshot_;
  Ledger& ledger_;
  QueueTree& tree_;
  GangPlacer placer_;
  RunTimeModel forecast_;
  Preemption preemption_;
  QueueReport report_;
  Schedule schedule_;
  std::int64_t starting_ = 0;

  // Shapes without places, by queue and how wide they may be placed.
  std::map<std::tuple<QueueTree::Index, std::uint32_t, std::size_t>, PendingPtr> failed_;
  std::map<PlacementCache::Words, PendingPtr> told_;
  std::map<std::uint32_t, QueueTree::Amounts> demands_;  // of shapes
  // Since the last start: queue, priority, shape, how wide.
  std::set<std::tuple<QueueTree::Index, int, std::uint32_t, std::size_t>> claimedInVain_;
  std::map<HeldBackKey, HeldBack> heldBack_;
  std::map<QueueTree::Index, PendingPtr> stopped_;  // queues whose first is out of quota
  PendingPtr startingPending_ = std::make_shared<Pending>(
      Pending{PendingReason::kWaitingForTurn, "behind others whose pods are being started"});

  bool askedToMove_ = false;
  std::optional<Head> head_;
  PendingPtr reserved_;  // what those are told from whom something is kept for it
  std::size_t headPosition_ = 0;  // in the snapshot
};

}  // namespace

Schedule schedule(const ScheduleRequest& request) { return Scheduler(request).run(); }

}  // namespace trainyard::core
