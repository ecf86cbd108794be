#include "core/cycle/schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/cycle/equals.h"
#include "core/cycle/queue_report.h"
#include "core/cycle/type_seekers.h"
#include "core/cycle/waiting_order.h"
#include "core/cycle/waiting_words.h"
#include "core/place/gang_placer.h"
#include "core/preemption/preemption.h"
#include "core/queues/eligibility.h"
#include "core/queues/priority.h"
#include "core/queues/queue_tree.h"
#include "core/resize.h"
#include "core/status/explain.h"
#include "core/status/explain_queue.h"
#include "core/timeline/earliest_fit.h"
#include "core/timeline/ends.h"
#include "core/timeline/limit_hold.h"
#include "core/timeline/reservation.h"
#include "model/late_members.h"

namespace trainyard::core {
namespace {

using model::Job;
using model::Pending;
using JobPtr = std::shared_ptr<const Job>;
using PendingPtr = std::shared_ptr<const Pending>;

// Pools for which something is kept at the same time; each costs some placements.
constexpr std::size_t kMostReservations = 8;

class Scheduler {
 public:
  explicit Scheduler(const ScheduleRequest& request)
      : request_(request),
        snapshot_(request.snapshot),
        ledger_(request.ledger),
        tree_(request.queues),
        placer_(snapshot_, ledger_, request.domains, request.cache),
        runs_(snapshot_, request.cache.liveRuns),
        orderSettings_(orderSettings(snapshot_.policy)),
        ends_(snapshot_, request.cache.notes, ledger_, runs_),
        preemption_(snapshot_, request.cache.notes, ledger_, tree_, placer_, ends_, runs_,
                    [this](const Job& job, int priority) { return rankOf(job, priority, snapshot_, runs_); }),
        report_(tree_),
        overdue_({snapshot_, placer_, request.cache, report_, runs_}),
        words_({snapshot_, ledger_, tree_, placer_, request.cache, report_, ends_, runs_, overdue_}),
        starting_(request.startingMembers) {
    request.cache.notes.follow(snapshot_.jobs);
    request.cache.followQueues(snapshot_);
    unreachedBefore_ = std::exchange(request.cache.unreached, std::nullopt);
  }

  Schedule run() {
    std::vector<Contender> contenders = listContenders();
    // Whoever was not reached may be gone; then nobody's turn is due.
    const auto isUnreached = [&](const Contender& each) {
      return each.waiting->job->key == *unreachedBefore_;
    };
    if (unreachedBefore_ && std::none_of(contenders.begin(), contenders.end(), isUnreached))
      unreachedBefore_.reset();
    report_.countWaiting(contenders);
    keepTurns(contenders);
    placer_.prefer(typesForWaiting(contenders, snapshot_, ledger_, tree_));
    WaitingOrder order(tree_, contenders);
    while (const Contender* contender = order.next()) {
      if (consider(*contender)) order.charged();
    }
    resize();
    words_.explain(reservations_, schedule_);
    for (const Reservation& each : reservations_)
      schedule_.keptPools.push_back({each.holder().job->key, each.pool()});
    schedule_.keptBelow = limitHolds_;
    wakeAt(preemption_.wakeAt());
    wakeAt(words_.wakeAt());
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
      position = request_.cache.notes.find(waiting.job, position);
      auto& asks = request_.cache.notes.of(position).asks;
      if (!asks) asks = asksOf(job, priorities);
      contenders.push_back({.waiting = &waiting,
                            .priority = asks->priority,
                            .queue = asks->queue,
                            .demand = demandOf(job, request_.cache.shapeOf(job, position)),
                            .rank = rankOf(job, asks->priority, asks->standing, orderSettings_, runs_),
                            .position = position,
                            .asks = &*asks});
      ++position;
    }
    return contenders;
  }

  JobNotes::Asks asksOf(const Job& job, const Priorities& priorities) {
    const auto& pending = job.status.pending;
    return {.standing = standingOf(job, snapshot_.now, runs_),
            .priority = priorities.of(job),
            .queue = tree_.queueOf(job),
            .reservedSince = pending ? pending->reservedSince : std::nullopt,
            .estimatedDuration = job.spec.estimatedDuration,
            .preemptible = job.spec.preemptible,
            .mayPreempt = priorities.mayPreempt(job),
            .timesOut = job.spec.schedulingTimeout.count() != 0,
            .plain = !job.spec.elastic && !job.status.gang.backoff,
            .knowsTypes = knowsTypes(job)};
  }

  // One for all of a shape.
  const QueueTree::Amounts& demandOf(const Job& job, std::uint32_t shape) {
    if (shape >= demands_.size()) demands_.resize(shape + std::size_t{1});
    auto& demand = demands_[shape];
    if (!demand) demand = std::make_unique<const QueueTree::Amounts>(tree_.demandOf(job));
    return *demand;
  }

  // Where queues are compared by what they used, who comes late is served in the end, and who used less is
  // not to wait for a turn that another was given before: turns are kept against what is held at the moment
  // alone.
  void keepTurns(std::vector<Contender>& contenders) {
    const bool byPresentUse = !snapshot_.policy.usageHalfLife;
    for (Contender& each : contenders) {
      const auto& reservedSince = each.asks->reservedSince;
      if (!reservedSince) continue;
      each.belowShare = report_.isBelowShare(each.queue);
      if (byPresentUse && each.belowShare) each.keepsSince = reservedSince;
      each.overdue = overdue_.isOverdue(each);
    }
  }

  // Returns whether it was charged to its queue.
  bool consider(const Contender& contender) {
    if (starting_ >= request_.mostStartingMembers) return words_.behindStarting(contender, schedule_);
    if (!reached(contender)) return words_.notReached(contender, schedule_);
    if (stopped_.empty()) {
      if (const auto equal = equalInVain(contender)) return words_.laterAs(contender, *equal, schedule_);
    }
    if (const auto stopped = stopped_.find(contender.queue); stopped != stopped_.end()) {
      return words_.say(contender, stopped->second, schedule_);
    }
    if (const auto beyond = tree_.beyondLimit(contender.queue, contender.demand)) {
      if (startsSmaller(contender)) return true;
      return outOfQuota(contender, *beyond);
    }
    if (const auto beyond = tree_.beyondLimitYet(contender.queue, contender.demand)) {
      if (neverStarts(contender)) return false;
      const auto pending =
          std::make_shared<Pending>(explainLimit(tree_, contender.queue, *beyond, contender.demand));
      stopQueue(contender, *pending);
      return words_.say(contender, pending, schedule_);
    }
    if (!contender.asks->preemptible) {
      if (const auto beyond = tree_.beyondNonPreemptible(contender.queue, contender.demand)) {
        if (startsSmaller(contender)) return true;
        return beyondWhatIsItsOwn(contender, *beyond);
      }
    }
    return findPlaces(contender);
  }

  // What no cluster of these nodes could hold waits for no limit, and nobody waits behind it.
  bool neverStarts(const Contender& contender) {
    const Job& job = *contender.waiting->job;
    const GangShape shape = placer_.shapeOf(job, contender.demand[0], contender.position);
    if (placer_.mayEverStart(job, shape.key)) return false;
    words_.later(contender, shape, schedule_);
    return true;
  }

  bool beyondWhatIsItsOwn(const Contender& contender, const QueueTree::Excess& beyond) {
    if (neverStarts(contender)) return false;
    const auto least = leastOf(*contender.waiting->job, snapshot_.policy);
    if (least && !tree_.beyondNonPreemptible(contender.queue, tree_.demandOf(*least)))
      return waitsForLeast(contender, *least);
    return words_.say(contender, std::make_shared<Pending>(explainNonPreemptible(tree_, beyond)), schedule_);
  }

  // Half of the work is for the first, the other half for those whom the last cycle did not reach.
  bool reached(const Contender& contender) {
    const model::ObjectKey& key = contender.waiting->job->key;
    if (unreachedBefore_ == key) unreachedBefore_.reset();
    const bool theirTurn = unreachedBefore_ && placer_.budget().left() < WorkBudget::kPerCycle / 2;
    if (!theirTurn && !placer_.budget().exhausted()) return true;
    if (!request_.cache.unreached && !theirTurn) request_.cache.unreached = key;
    return false;
  }

  // --- phase 5

  bool findPlaces(const Contender& contender) {
    const GangShape shape = placer_.shapeOf(*contender.waiting->job, contender.demand[0], contender.position);
    if (equalWasHeldBack(contender, shape)) return false;
    if (auto found = placeInQuota(contender, shape.key, shape.relaxation.widest)) {
      return startOrHoldBack(contender, shape, std::move(*found));
    }
    if (claimsGuaranteed(contender, shape) || claimsMore(contender, shape) || startsSmaller(contender) ||
        claims(contender, shape))
      return true;
    if (reservations_.empty() && movesOthers(contender, shape)) return true;
    if (const auto widest = widerThatPays(contender, shape)) {
      if (auto found = placeInQuota(contender, shape.key, *widest))
        return startOrHoldBack(contender, shape, std::move(*found));
    }
    takeOverClaim(contender, shape);
    keepPlaces(contender, shape);
    if (exhausted_) {
      words_.say(contender, limitWords(contender), schedule_);
    } else {
      words_.later(contender, shape, schedule_);
      noteInVain(contender, shape);
    }
    if (!snapshot_.policy.backfill.enabled) stopQueueIfRoomIsShort(contender, shape);
    return false;
  }

  // Whoever comes after an equal one that found nothing finds nothing either: since then nothing was taken or
  // given back. Equal are those who ask for nothing but room, of the same queue, priority and shape. Which of
  // those that wait for room it is.
  std::optional<std::size_t> equalInVain(const Contender& contender) {
    if (inVain_.empty() || !heldBack_.empty() || !asksForRoomAlone(contender)) return std::nullopt;
    const GangShape shape = placer_.shapeOf(*contender.waiting->job, contender.demand[0], contender.position);
    if (shape.relaxation.next) return std::nullopt;
    const auto equal = inVain_.find(equalsOf(contender, shape));
    if (equal == inVain_.end()) return std::nullopt;
    const bool asksInTurn = takesTurns(snapshot_.policy) && preemption_.anyTakesTurns();
    if (asksInTurn && !preemption_.hasNobody(contender.queue, contender.priority, contender.rank.expected,
                                             contender.asks->mayPreempt))
      return std::nullopt;
    return equal->second;
  }

  // Not where one of equals may find what another does not: by the order, or by what they have been told.
  void noteInVain(const Contender& contender, const GangShape& shape) {
    if (shape.relaxation.next || !asksForRoomAlone(contender)) return;
    if (!snapshot_.policy.backfill.enabled || reservations_.empty()) return;
    if (takesTurns(snapshot_.policy) && preemption_.anyTakesTurns() && !preemption_.lastHadNobody()) return;
    if (preemption_.anyClaimingBelow(contender.queue, contender.priority)) return;
    inVain_.emplace(equalsOf(contender, shape), words_.lastLater());
  }

  static bool asksForRoomAlone(const Contender& contender) {
    return contender.asks->plain && !contender.asks->reservedSince && !contender.waiting->silent;
  }

  static Equals equalsOf(const Contender& contender, const GangShape& shape) {
    return {contender.queue, shape.relaxation.widest,     contender.priority,
            shape.key,       contender.asks->preemptible, contender.asks->mayPreempt};
  }

  // An elastic gang for which there is no room starts with as many members as find some, down to its least.
  bool startsSmaller(const Contender& contender) {
    const Job& job = *contender.waiting->job;
    if (!mayStartSmaller(job, snapshot_.policy)) return false;
    const int least = job.spec.elastic->minReplicas;
    const GangShape shape = placer_.shapeOf(job, contender.demand[0], contender.position);
    const std::tuple asked{contender.queue, shape.key, shape.relaxation.widest, least};
    if (noneSmaller_.contains(asked)) return false;
    auto found = placeSmaller(contender, shape.relaxation.widest, {});
    if (!found) {
      if (!job.status.gang.backoff) noneSmaller_.insert(asked);
      return false;
    }
    if (judge(contender, found->assignments) != Reservation::Verdict::kPasses) {
      found = placeSmaller(contender, shape.relaxation.widest, keptNodes(found->assignments));
      if (!found || judge(contender, found->assignments) != Reservation::Verdict::kPasses) return false;
    }
    start(contender, std::move(*found));
    return true;
  }

  // With fewer members than are wished, as many as find room.
  std::optional<Placement> placeSmaller(const Contender& contender, std::size_t widest,
                                        const std::vector<model::NodeName>& avoid) {
    const Job& job = *contender.waiting->job;
    int fits = job.spec.elastic->minReplicas;
    int beyond = wishedMembers(job);
    auto found = placeWith(contender, fits, widest, avoid);
    while (found && beyond - fits > 1) {
      const int size = fits + (beyond - fits) / 2;
      auto more = placeWith(contender, size, widest, avoid);
      (more ? fits : beyond) = size;
      if (more) found = std::move(more);
    }
    return found;
  }

  // Nodes that reservations keep, of those that any of these places concerns.
  std::vector<model::NodeName> keptNodes(const std::vector<model::Assignment>& places) const {
    std::vector<model::NodeName> kept;
    for (const Reservation& each : reservations_) {
      if (!each.concerns(places)) continue;
      kept.insert(kept.end(), each.freedNodes().begin(), each.freedNodes().end());
      const auto nodes = each.reservedNodes();
      kept.insert(kept.end(), nodes.begin(), nodes.end());
    }
    return kept;
  }

  // Its places with that many members of the elastic role, as its queue's limits have it.
  std::optional<Placement> placeWith(const Contender& contender, int members, std::size_t widest,
                                     const std::vector<model::NodeName>& avoid = {}) {
    const auto smaller = withWish(*contender.waiting->job, members);
    PlaceRequest request = placer_.request(*smaller, widest);
    const auto& backoff = smaller->status.gang.backoff;
    // As for the whole gang: a node that failed an attempt is better than none.
    const auto placement =
        avoidingAsPossible(backoff ? backoff->avoidNodes : std::vector<model::NodeName>{},
                           [&](std::vector<model::NodeName> avoided) {
                             request.avoidNodes = std::move(avoided);
                             request.avoidNodes.insert(request.avoidNodes.end(), avoid.begin(), avoid.end());
                             return placer_.tryPlace(request);
                           });
    if (!placement) return std::nullopt;
    const QueueTree::Amounts held = tree_.heldBy(*smaller, placement->assignments);
    const bool beyond = tree_.beyondLimit(contender.queue, held) ||
                        tree_.beyondLimitYet(contender.queue, held) ||
                        (!smaller->spec.preemptible && tree_.beyondNonPreemptible(contender.queue, held));
    if (beyond || keptBelowLimit(contender, held)) return std::nullopt;
    return placement;
  }

  // An elastic gang whose wish is beyond what its queue may hold, and whose least is not, found no places for
  // that: it is these that it waits for.
  bool waitsForLeast(const Contender& contender, const Job& least) {
    const GangShape shape = placer_.shapeOf(*contender.waiting->job, contender.demand[0], contender.position);
    if (claims(contender, shape)) return true;
    exhausted_.reset();
    keptBelow_.reset();
    const std::size_t widest = shape.relaxation.widest;
    if (auto found = withinQuota(contender, least, widest, placer_.tryPlace(least, widest)))
      return startOrHoldBack(contender, shape, std::move(*found));
    takeOverClaim(contender, shape);
    keepPlaces(contender, shape);
    if (exhausted_) return words_.say(contender, limitWords(contender), schedule_);
    return words_.later(contender, shape, schedule_);
  }

  // The gang's places. Nodes of a type of GPU that its queue has had enough of, or that are kept below a
  // limit, are left out.
  std::optional<Placement> placeInQuota(const Contender& contender, std::uint32_t shape, std::size_t widest) {
    const Job& job = *contender.waiting->job;
    exhausted_.reset();
    keptBelow_.reset();
    return withinQuota(contender, job, widest, placer_.place(job, shape, widest));
  }

  // These places, or others for them: `job` is the contender's at some size.
  std::optional<Placement> withinQuota(const Contender& contender, const Job& job, std::size_t widest,
                                       std::optional<Placement> placement) {
    std::vector<model::NodeName> avoid;
    while (placement) {
      const QueueTree::Amounts held = tree_.heldBy(job, placement->assignments);
      auto beyond = tree_.beyondLimit(contender.queue, held);
      if (beyond) keptBelow_.reset();
      if (!beyond) beyond = tree_.beyondLimitYet(contender.queue, held);
      if (!beyond) beyond = keptBelowLimit(contender, held);
      if (!beyond) return placement;
      if (!exhausted_) exhausted_ = beyond;
      const auto nodes = tree_.nodesOfType(beyond->dimension);
      if (nodes.empty()) return std::nullopt;
      avoid.insert(avoid.end(), nodes.begin(), nodes.end());
      PlaceRequest request = placer_.request(job, widest);
      request.avoidNodes = avoid;
      placement = placer_.tryPlace(request);
    }
    return std::nullopt;
  }

  PendingPtr limitWords(const Contender& contender) const {
    if (keptBelow_)
      return std::make_shared<Pending>(explainKeptBelowLimit(tree_, exhausted_->queue, *keptBelow_));
    return std::make_shared<Pending>(explainLimit(tree_, contender.queue, *exhausted_, awaitedBy(contender)));
  }

  std::optional<QueueTree::Excess> keptBelowLimit(const Contender& contender,
                                                  const QueueTree::Amounts& held) {
    for (const LimitHold& hold : limitHolds_) {
      if (hold.leavesRoom(tree_, contender.queue, held) || entitled(contender)) continue;
      if (hold.own == contender.queue && contender.priority > hold.rank.priority) continue;
      if (hold.endsInTime(cautiousRun(*contender.waiting->job, snapshot_.now, runs_), snapshot_.now))
        continue;
      keptBelow_ = hold.job;
      const QueueTree::Node& node = tree_.node(hold.at);
      return QueueTree::Excess{hold.at, hold.dimension, node.usage[hold.dimension],
                               node.limit[hold.dimension]};
    }
    return std::nullopt;
  }

  bool entitled(const Contender& contender) const {
    const auto& guaranteed = tree_.node(contender.queue).guaranteed;
    return std::any_of(guaranteed.begin(), guaranteed.end(), [](auto each) { return each > 0; }) &&
           !tree_.beyondGuarantee(contender.queue, contender.demand);
  }

  bool startOrHoldBack(const Contender& contender, const GangShape& shape, Placement placement) {
    const auto verdict = judge(contender, placement.assignments);
    if (verdict != Reservation::Verdict::kPasses) {
      auto beside = besideKept(contender, shape, placement);
      if (!beside && startsSmaller(contender)) return true;
      if (!beside) {
        holdBack(contender, shape, verdict == Reservation::Verdict::kKeptBriefly);
        return false;
      }
      placement = std::move(*beside);
    }
    start(contender, std::move(placement));
    return true;
  }

  void start(const Contender& contender, Placement placement) {
    const JobPtr& job = contender.waiting->job;
    take(*job, placement);
    ends_.add(*job, placement.assignments);
    tree_.charge(contender.queue, tree_.heldBy(*job, placement.assignments), !job->spec.preemptible);
    schedule_.changes.push_back({.job = job,
                                 .kind = ChangeKind::kStart,
                                 .add = std::move(placement),
                                 .silent = contender.waiting->silent});
    claimedInVain_.clear();
    guaranteedInVain_.clear();
    noMoreFor_.clear();
    heldBack_.clear();
    inVain_.clear();
  }

  void take(const Job& job, const Placement& placement) {
    for (const model::Assignment& assignment : placement.assignments) {
      const model::Role* role = job.spec.findRole(assignment.role);
      ledger_.take(*ledger_.find(assignment.node), role->shape.requests,
                   static_cast<int>(assignment.indices.size()), &job);
      starting_ += static_cast<std::int64_t>(assignment.indices.size());
    }
  }

  // Holding out for a closer place is an expectation. Where a job stated no wish, and one is known to come
  // later than closeness is worth over the run that is expected, the closest that there is will do: how wide
  // that is.
  std::optional<std::size_t> widerThatPays(const Contender& contender, const GangShape& shape) {
    const Job& job = *contender.waiting->job;
    if (!shape.relaxation.next || !job.spec.locality.levels.empty()) return std::nullopt;
    const auto widenings = placer_.widenings(job, shape.key, contender.position);
    for (const GangPlacer::Widening& wider : widenings) {
      if (!placer_.place(job, shape.key, wider.widest)) continue;
      const auto closer = earliestFit(job, {}, shape.relaxation.widest, ledger_, ends_, placer_);
      const ExpectedRun run = expectedRun(job, snapshot_.now, runs_);
      // One guess by another is none.
      if (run.basis == Basis::kGuess && closer && closer->time.basis == Basis::kGuess) return std::nullopt;
      if (!closer || closer->time.at - snapshot_.now > run.time * kSpreadCostPermille / 1'000)
        return wider.widest;
      return std::nullopt;
    }
    return std::nullopt;
  }

  // --- phase 6

  Claimant claimantOf(const Contender& contender) const {
    std::optional<base::WallTime> since;
    const auto& pending = contender.waiting->job->status.pending;
    if (pending && pending->reservedSince && !keptByAnother(contender)) since = pending->reservedSince;
    return {contender.waiting->job.get(), contender.priority, contender.queue,  contender.demand, since,
            contender.belowShare,         contender.rank,     contender.overdue};
  }

  // Whether who makes room for it pays for it; then it starts at once, as a claim.
  bool claims(const Contender& contender, const GangShape& shape) {
    if (contender.waiting->silent || !preemption_.anyRunning() || wouldFitWider(contender, shape))
      return false;
    Claimant claimant = claimantOf(contender);
    // Others make room for the least that it can do with.
    const JobPtr smallest = leastOf(*claimant.job, snapshot_.policy);
    if (smallest) {
      claimant.job = smallest.get();
      claimant.demand = tree_.demandOf(*smallest);
    }
    const auto again = claimsAgainFrom(*claimant.job);
    if (again && snapshot_.now < *again) wakeAt(again);
    // Its equals ask the same, but who has a reservation, or failed before, and those of whom one may be in
    // turn before another.
    const bool equalsAsk =
        !claimant.reservedSince && !again && !(takesTurns(snapshot_.policy) && preemption_.anyTakesTurns());
    const std::tuple asked{contender.queue, contender.priority, shape.key, shape.relaxation.widest};
    if (equalsAsk && claimedInVain_.contains(asked)) return false;
    auto claim = preemption_.claim(claimant, shape.relaxation.widest);
    if (!claim) {
      if (equalsAsk) claimedInVain_.insert(asked);
      return false;
    }
    return carryOutUnlessKept(contender, std::move(*claim));
  }

  // An elastic gang for which there is no room is given as many members as its queue is guaranteed by whoever
  // borrows that, not its least alone.
  bool claimsGuaranteed(const Contender& contender, const GangShape& shape) {
    const Job& job = *contender.waiting->job;
    if (!mayStartSmaller(job, snapshot_.policy) || contender.waiting->silent) return false;
    const auto& guaranteed = tree_.node(contender.queue).guaranteed;
    if (std::none_of(guaranteed.begin(), guaranteed.end(), [](auto each) { return each > 0; })) return false;
    if (!preemption_.anyRunning() || wouldFitWider(contender, shape)) return false;
    const int least = job.spec.elastic->minReplicas;
    int members = least;
    for (int beyond = wishedMembers(job) + 1; beyond - members > 1;) {
      const int size = members + (beyond - members) / 2;
      const bool within = !tree_.beyondGuarantee(contender.queue, tree_.demandOf(*withWish(job, size)));
      (within ? members : beyond) = size;
    }
    const std::tuple asked{contender.queue, contender.priority, shape.key, shape.relaxation.widest};
    if (members <= least || guaranteedInVain_.contains(asked)) return false;
    if (placeWith(contender, members, shape.relaxation.widest)) return false;
    const JobPtr sized = withWish(job, members);
    Claimant claimant = claimantOf(contender);
    claimant.job = sized.get();
    claimant.demand = tree_.demandOf(*sized);
    if (auto claim = preemption_.claim(claimant, shape.relaxation.widest))
      return carryOutUnlessKept(contender, std::move(*claim));
    guaranteedInVain_.insert(asked);
    return false;
  }

  // Who makes others shrink passes a reservation by its rules, as who finds free places does.
  bool carryOutUnlessKept(const Contender& contender, Claim claim) {
    const bool stops = std::any_of(claim.concessions.begin(), claim.concessions.end(),
                                   [](const Change& each) { return each.kind != ChangeKind::kShrink; });
    if (!stops && judge(contender, claim.placement.assignments) != Reservation::Verdict::kPasses) {
      preemption_.withdraw(claim);
      return false;
    }
    carryOut(contender, std::move(claim));
    return true;
  }

  // An elastic gang for which there is no room is given more than its least by those of its queue that are
  // expected to take longer: its wish, or else half as much beyond its least, and so on.
  bool claimsMore(const Contender& contender, const GangShape& shape) {
    const Job& job = *contender.waiting->job;
    // It would never give back what it was given.
    if (model::mayStartIncomplete(job.spec)) return false;
    if (!mayStartSmaller(job, snapshot_.policy) || contender.waiting->silent) return false;
    if (!preemption_.anyRunning() || wouldFitWider(contender, shape)) return false;
    const int least = job.spec.elastic->minReplicas;
    const std::tuple asked{contender.queue, contender.priority, shape.key, shape.relaxation.widest};
    const auto vain = noMoreFor_.find(asked);
    if (vain != noMoreFor_.end() && contender.rank.expected >= vain->second) return false;
    for (int members = wishedMembers(job); members > least; members = least + (members - least) / 2) {
      if (auto free = placeWith(contender, members, shape.relaxation.widest)) {
        if (judge(contender, free->assignments) != Reservation::Verdict::kPasses) break;
        start(contender, std::move(*free));
        return true;
      }
      const JobPtr sized = withWish(job, members);
      Claimant claimant = claimantOf(contender);
      claimant.job = sized.get();
      claimant.demand = tree_.demandOf(*sized);
      claimant.beyondLeast = true;
      if (auto claim = preemption_.claimShrinking(claimant, shape.relaxation.widest))
        return carryOutUnlessKept(contender, std::move(*claim));
    }
    noMoreFor_[asked] = contender.rank.expected;
    return false;
  }

  // Whether there are places for it that it need only wait to take: nobody is stopped for closeness.
  bool wouldFitWider(const Contender& contender, const GangShape& shape) {
    if (!shape.relaxation.next) return false;
    const Job& job = *contender.waiting->job;
    const auto widenings = placer_.widenings(job, shape.key, contender.position);
    return std::any_of(widenings.begin(), widenings.end(), [&](const GangPlacer::Widening& wider) {
      return placer_.place(job, shape.key, wider.widest).has_value();
    });
  }

  // Whether others make room for it by going elsewhere; asked once, for the first that has to wait.
  bool movesOthers(const Contender& contender, const GangShape& shape) {
    if (contender.waiting->silent || exhausted_) return false;
    auto claim = preemption_.move(claimantOf(contender), shape.relaxation.widest);
    if (!claim) return false;
    carryOut(contender, std::move(*claim));
    return true;
  }

  void carryOut(const Contender& contender, Claim claim) {
    for (Change& change : claim.concessions) schedule_.changes.push_back(std::move(change));
    noneSmaller_.clear();
    const std::size_t first = schedule_.changes.size() - claim.concessions.size();
    start(contender, std::move(claim.placement));
    for (std::size_t i = first; i + 1 < schedule_.changes.size(); ++i) {
      const Change& change = schedule_.changes[i];
      if (change.kind == ChangeKind::kMove) take(*change.job, change.add);
    }
  }

  void takeOverClaim(const Contender& contender, const GangShape& shape) {
    if (!preemption_.anyClaiming()) return;
    if (const auto from = preemption_.takeOver(claimantOf(contender), shape.relaxation.widest))
      schedule_.yields.push_back({*from, contender.waiting->job->key});
  }

  // --- phase 8

  void resize() {
    if (!snapshot_.policy.resize.enabled) return;
    std::set<const Job*> changed;
    for (const Change& each : schedule_.changes) changed.insert(each.job.get());
    ResizeAnswer answer = resizeGangs(
        {.snapshot = snapshot_,
         .ledger = ledger_,
         .domains = request_.domains,
         .queues = tree_,
         .gangs = request_.cache.notes.stoppable(),
         .wanted =
             [this](const Job& job, const std::vector<model::Assignment>& places) {
               const QueueTree::Amounts held = tree_.heldBy(job, places);
               return std::any_of(reservations_.begin(), reservations_.end(),
                                  [&](const Reservation& each) { return each.concerns(places); }) ||
                      std::any_of(limitHolds_.begin(), limitHolds_.end(), [&](const LimitHold& each) {
                        return !each.leavesRoom(tree_, tree_.queueOf(job), held);
                      });
             },
         .takesPart = [&](const Job& job) { return changed.contains(&job); }});
    for (Change& each : answer.changes) schedule_.changes.push_back(std::move(each));
    schedule_.sizes = answer.terms;
    wakeAt(answer.wakeAt);
  }

  // --- phase 7

  // Who found places that are kept for others: queue, shape, how wide, whether it can be stopped and comes
  // through that, and how its run is known.
  using HeldBackKey = std::tuple<QueueTree::Index, std::uint32_t, std::size_t, bool, bool, Basis>;
  struct HeldBack {
    std::chrono::seconds run{0};
    bool briefly = false;
    std::size_t by = 0;  // index into reservations_
  };
  static HeldBackKey heldBackKey(const Contender& contender, const GangShape& shape, Basis basis) {
    const model::JobSpec& spec = contender.waiting->job->spec;
    return {contender.queue,  shape.key,           shape.relaxation.widest,
            spec.preemptible, survivesStops(spec), basis};
  }

  // Whether an earlier one keeps what it waits for.
  bool keptByAnother(const Contender& contender) const {
    if (reservations_.empty()) return false;
    const std::vector<char> pool = poolOf(*contender.waiting->job, ledger_);
    return std::any_of(reservations_.begin(), reservations_.end(),
                       [&](const Reservation& each) { return each.samePool(pool); });
  }

  // The first that waits for room in its pool keeps a reservation there, and room below its limits.
  void keepPlaces(const Contender& contender, const GangShape& shape) {
    if (!snapshot_.policy.backfill.enabled) return;
    const JobPtr& job = contender.waiting->job;
    if (exhausted_) {
      holdBelowLimit(contender, *exhausted_);
      return;
    }
    const std::uint32_t pool = request_.cache.poolOf(*job, shape.key);
    if (pools_.contains(pool) || reservations_.size() >= kMostReservations) return;
    if (!words_.waitsForRoom(contender, shape) || keptByAnother(contender)) return;
    pools_.insert(pool);
    // An elastic gang waits for the least that it can do with.
    const JobPtr least = leastOf(*job, snapshot_.policy);
    const JobPtr awaited = least ? least : job;
    Holder holder{.job = awaited,
                  .silent = contender.waiting->silent,
                  .position = contender.position,
                  .queue = contender.queue,
                  .rank = contender.rank,
                  .overdue = contender.overdue,
                  .shape = shape.key,
                  .widest = shape.relaxation.widest,
                  .since = job->status.pending ? job->status.pending->reservedSince.value_or(snapshot_.now)
                                               : snapshot_.now};
    reservations_.emplace_back(std::move(holder), snapshot_, ledger_, ends_, placer_);
    wakeAt(reservations_.back().wakeAt());
    keepBelowLimits(contender, least ? tree_.demandOf(*least) : contender.demand);
  }

  void keepBelowLimits(const Contender& contender, const QueueTree::Amounts& demand) {
    for (const QueueTree::Index at : tree_.node(contender.queue).path) {
      for (std::size_t d = 0; d < demand.size(); ++d) {
        if (demand[d] <= 0 || tree_.node(at).limit[d] == QueueTree::kNoLimit) continue;
        limitHolds_.push_back({.job = contender.waiting->job,
                               .own = contender.queue,
                               .rank = contender.rank,
                               .at = at,
                               .dimension = d,
                               .demand = demand[d],
                               .start = reservations_.back().start()});
      }
    }
  }

  void holdBelowLimit(const Contender& contender, const QueueTree::Excess& beyond) {
    const auto same = [&](const LimitHold& each) {
      return each.at == beyond.queue && each.dimension == beyond.dimension;
    };
    if (std::any_of(limitHolds_.begin(), limitHolds_.end(), same)) return;
    // A type of GPU is nobody's demand: all that it asks for may be of it.
    const QueueTree::Amounts awaited = awaitedBy(contender);
    const std::int64_t demand = awaited[beyond.dimension] > 0 ? awaited[beyond.dimension] : awaited[0];
    limitHolds_.push_back({contender.waiting->job, contender.queue, contender.rank, beyond.queue,
                           beyond.dimension, demand,
                           roomBelowLimit(tree_, beyond.queue, beyond.dimension, demand, ends_)});
    words_.keepsLimit(contender);
  }

  Reservation::Verdict judge(const Contender& contender, const std::vector<model::Assignment>& places) {
    using Verdict = Reservation::Verdict;
    const Job& job = *contender.waiting->job;
    std::optional<Reservation::Asking> asking;
    Verdict worst = Verdict::kPasses;
    for (std::size_t i = 0; i < reservations_.size(); ++i) {
      Reservation& each = reservations_[i];
      if (!each.concerns(places)) continue;
      if (!asking)
        asking = Reservation::Asking{
            .job = &job, .entitled = entitled(contender), .run = cautiousRun(job, snapshot_.now, runs_)};
      Reservation::Asking own = *asking;
      const Holder& holder = each.holder();
      const bool sameQueue = holder.queue == contender.queue;
      const bool first = contender.priority > holder.rank.priority ||
                         (!holder.overdue && contender.rank.before(holder.rank));
      own.entitled = own.entitled || (sameQueue && first);
      own.mayBeStopped = job.spec.preemptible && Priorities(snapshot_).mayPreempt(*holder.job) &&
                         (sameQueue ? givesWay(holder, contender) : borrows(holder, contender));
      const Verdict verdict = each.judge(own, places);
      if (verdict == Verdict::kPasses) continue;
      keeper_ = i;
      if (worst != Verdict::kKept) worst = verdict;
    }
    return worst;
  }

  // What core/queues/eligibility.h calls passed, of one that asks to be let past.
  bool givesWay(const Holder& holder, const Contender& contender) const {
    if (forbidsWithin(tree_.node(holder.queue))) return false;
    // Where the order says who gives way to whom, it is only those who come through a stop.
    const bool byOrder = holder.rank.priority == contender.priority && takesTurns(snapshot_.policy);
    const bool comesThrough = !byOrder || survivesStops(contender.waiting->job->spec);
    return comesThrough && (holder.overdue || holder.rank.before(contender.rank));
  }
  bool borrows(const Holder& holder, const Contender& contender) const {
    return report_.isBelowShare(holder.queue) &&
           tree_.holdsGuarantee(tree_.branches(holder.queue, contender.queue).b, contender.demand);
  }

  // Places with which it may pass: off the nodes that somebody has just left, or off the reserved ones as
  // well.
  std::optional<Placement> besideKept(const Contender& contender, const GangShape& shape,
                                      const Placement& found) {
    std::vector<model::NodeName> freed;
    std::vector<model::NodeName> reserved;
    for (const Reservation& each : reservations_) {
      if (!each.concerns(found.assignments)) continue;
      freed.insert(freed.end(), each.freedNodes().begin(), each.freedNodes().end());
      const auto nodes = each.reservedNodes();
      reserved.insert(reserved.end(), nodes.begin(), nodes.end());
    }
    if (!freed.empty()) {
      auto places = placeOff(freed, contender, shape);
      if (places && judge(contender, places->assignments) == Reservation::Verdict::kPasses) return places;
    }
    if (reserved.empty()) return std::nullopt;
    freed.insert(freed.end(), reserved.begin(), reserved.end());
    auto places = placeOff(std::move(freed), contender, shape);
    if (places && judge(contender, places->assignments) == Reservation::Verdict::kPasses) return places;
    return std::nullopt;
  }

  std::optional<Placement> placeOff(std::vector<model::NodeName> nodes, const Contender& contender,
                                    const GangShape& shape) {
    const Job& job = *contender.waiting->job;
    PlaceRequest request = placer_.request(job, shape.relaxation.widest);
    request.avoidNodes = std::move(nodes);
    auto placement = placer_.tryPlace(request);
    if (!placement) return std::nullopt;
    const QueueTree::Amounts held = tree_.heldBy(job, placement->assignments);
    const bool beyond =
        tree_.beyondLimit(contender.queue, held) || tree_.beyondLimitYet(contender.queue, held);
    if (beyond || keptBelowLimit(contender, held)) return std::nullopt;
    return placement;
  }

  // What is kept from one is kept from its equals, unless they end earlier, or keep off nodes of their own.
  bool equalWasHeldBack(const Contender& contender, const GangShape& shape) {
    const Job& job = *contender.waiting->job;
    if (heldBack_.empty() || job.status.gang.backoff) return false;
    const ExpectedRun run = cautiousRun(job, snapshot_.now, runs_);
    const auto equal = heldBack_.find(heldBackKey(contender, shape, run.basis));
    if (equal == heldBack_.end() || run.time < equal->second.run) return false;
    sayHeldBack(contender, shape, equal->second);
    return true;
  }

  // It found places, but they are not for it.
  void holdBack(const Contender& contender, const GangShape& shape, bool briefly) {
    const Job& job = *contender.waiting->job;
    const ExpectedRun run = cautiousRun(job, snapshot_.now, runs_);
    const HeldBack held{run.time, briefly, keeper_};
    if (!job.status.gang.backoff) heldBack_[heldBackKey(contender, shape, run.basis)] = held;
    sayHeldBack(contender, shape, held);
  }

  void sayHeldBack(const Contender& contender, const GangShape& shape, const HeldBack& held) {
    if (const auto& next = shape.relaxation.next)
      wakeAt(placer_.waitingSinceOf(*contender.waiting->job, contender.position) + next->after);
    words_.heldBack(contender, reservations_[held.by], held.briefly, schedule_);
  }

  bool outOfQuota(const Contender& contender, QueueTree::Excess beyond) {
    if (neverStarts(contender)) return false;
    if (const auto least = leastOf(*contender.waiting->job, snapshot_.policy)) {
      const auto leastBeyond = tree_.beyondLimit(contender.queue, tree_.demandOf(*least));
      if (!leastBeyond) return waitsForLeast(contender, *least);
      beyond = *leastBeyond;
    }
    const GangShape shape = placer_.shapeOf(*contender.waiting->job, contender.demand[0], contender.position);
    if (claims(contender, shape)) return true;
    const auto pending =
        std::make_shared<Pending>(explainLimit(tree_, contender.queue, beyond, awaitedBy(contender)));
    stopQueue(contender, *pending);
    if (snapshot_.policy.backfill.enabled) holdBelowLimit(contender, beyond);
    return words_.say(contender, pending, schedule_);
  }

  // What has to be there for it to start: of an elastic gang its least.
  QueueTree::Amounts awaitedBy(const Contender& contender) const {
    const auto least = leastOf(*contender.waiting->job, snapshot_.policy);
    return least ? tree_.demandOf(*least) : contender.demand;
  }

  void stopQueue(const Contender& contender, const Pending& pending) {
    auto behind = std::make_shared<Pending>(explainTurn(*contender.waiting->job, pending));
    behind->delay = pending.delay;
    stopped_.emplace(contender.queue, std::move(behind));
  }

  void stopQueueIfRoomIsShort(const Contender& contender, const GangShape& shape) {
    if (exhausted_ || !words_.waitsForRoom(contender, shape)) return;
    stopQueue(contender, words_.classified(contender, shape));
  }

  void wakeAt(std::optional<base::WallTime> time) {
    if (time && (!schedule_.wakeAt || *time < *schedule_.wakeAt)) schedule_.wakeAt = time;
  }

  const ScheduleRequest& request_;
  const model::Snapshot& snapshot_;
  Ledger& ledger_;
  QueueTree& tree_;
  GangPlacer placer_;
  RunTimeModel runs_;
  OrderSettings orderSettings_;
  Ends ends_;
  Preemption preemption_;
  QueueReport report_;
  Overdue overdue_;
  WaitingWords words_;
  Schedule schedule_;
  std::int64_t starting_ = 0;
  std::optional<model::ObjectKey> unreachedBefore_;

  std::vector<std::unique_ptr<const QueueTree::Amounts>> demands_;  // by shape
  // The limit for which the present one found no places, if that is why.
  std::optional<QueueTree::Excess> exhausted_;
  JobPtr keptBelow_;  // for whom room below it is kept, if that is why
  // Since the last start: queue, priority, shape, how wide.
  std::set<std::tuple<QueueTree::Index, int, std::uint32_t, std::size_t>> claimedInVain_;
  std::set<std::tuple<QueueTree::Index, int, std::uint32_t, std::size_t>> guaranteedInVain_;
  // Likewise; what was expected of the elastic gang that none gave more than its least.
  std::map<std::tuple<QueueTree::Index, int, std::uint32_t, std::size_t>, double> noMoreFor_;
  // Elastic gangs that found no places even with their least: queue, shape, how wide, least.
  std::set<std::tuple<QueueTree::Index, std::uint32_t, std::size_t, int>> noneSmaller_;
  std::map<HeldBackKey, HeldBack> heldBack_;
  std::unordered_map<Equals, std::size_t, HashOfEquals> inVain_;  // likewise; WaitingWords::lastLater()
  std::map<QueueTree::Index, PendingPtr> stopped_;                // queues whose first is out of quota

  std::vector<Reservation> reservations_;
  std::set<std::uint32_t> pools_;  // PlacementCache::poolOf, for which somebody keeps one
  std::size_t keeper_ = 0;         // of what the present one was refused
  std::vector<LimitHold> limitHolds_;
};

}  // namespace

const model::ObjectKey* Schedule::keptFor(const Job& job, const std::vector<model::Assignment>& places,
                                          const Ledger& ledger, const QueueTree& tree) const {
  for (const KeptPool& pool : keptPools) {
    for (const model::Assignment& each : places) {
      const auto node = ledger.find(each.node);
      if (node && pool.nodes[*node] != 0) return &pool.holder;
    }
  }
  const QueueTree::Amounts held = tree.heldBy(job, places);
  for (const LimitHold& each : keptBelow) {
    if (!each.leavesRoom(tree, tree.queueOf(job), held)) return &each.job->key;
  }
  return nullptr;
}

Schedule schedule(const ScheduleRequest& request) { return Scheduler(request).run(); }

}  // namespace trainyard::core
