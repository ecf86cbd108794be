#include "core/cycle/cycle.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/cycle/admission.h"
#include "core/cycle/clean_up.h"
#include "core/cycle/failed_gang.h"
#include "core/cycle/schedule.h"
#include "core/cycle/user_scale.h"
#include "core/gang/gang_proposals.h"
#include "core/gang/gang_protocol.h"
#include "core/gang/gang_removal.h"
#include "core/gang/gang_resize.h"
#include "core/gang/lost_members.h"
#include "core/gang/orphans.h"
#include "core/ledger/ledger.h"
#include "core/ledger/members.h"
#include "core/place/place.h"
#include "core/planner.h"
#include "core/preemption/claims.h"
#include "core/queues/eligibility.h"
#include "core/queues/priority.h"
#include "core/queues/queue_tree.h"
#include "core/resize.h"
#include "core/status/describe.h"
#include "core/status/explain.h"
#include "core/status/job_status.h"
#include "core/status/resize_status.h"
#include "model/charge.h"
#include "model/conditions.h"
#include "model/gang_size.h"
#include "model/managed_by.h"
#include "model/names.h"
#include "model/set_condition.h"
#include "model/words.h"

namespace trainyard::core {
namespace {

using model::GangRecord;
using model::Job;
using JobPtr = std::shared_ptr<const Job>;

// A shape takes up to a tenth of a second to choose, where somebody asks for thousands of workers on
// thousands of nodes; others wait for theirs until the next cycle.
constexpr int kMostPlans = 1;
constexpr std::chrono::milliseconds kNextPlans{100};

std::string placedText(int pods, const std::string& where) {
  if (pods == 1) return fmt::format("The pod is placed on {}", where);
  return fmt::format("The whole gang is placed: {} pods on {}", pods, where);
}

class Cycle {
 public:
  Cycle(const CycleInput& input, CycleCache& cache)
      : input_(input),
        settings_(input.settings),
        cache_(cache),
        ledger_(cache.ledger()),
        queues_(input.snapshot, cache.queues()) {
    settings_.maxGrace = input.snapshot.policy.preemption.maxGrace;
    settings_.unreachableGrace = input.snapshot.policy.unreachableGrace;
  }

  Plan run() {
    cache_.begin(input_.snapshot);
    evictions_ = claimedGangs(standingClaims(), input_.snapshot.pods);
    decideAll();
    placeWaiting();
    plan_.orphans = sweepOrphans(input_.snapshot, settings_);
    dropNothings();
    cache_.end(input_.snapshot.jobs.size());
    return std::move(plan_);
  }

 private:
  // Nobody stops for a claim whose write is under way, which may fail yet, nor for one that may not be of
  // use.
  std::vector<JobPtr> standingClaims() const {
    std::vector<JobPtr> standing = cache_.notes().proposing();
    std::erase_if(standing, [&](const JobPtr& job) {
      if (job->status.gang.proposal->victims.empty()) return true;
      const auto told = input_.feedback.find(job->key);
      const JobFeedback& feedback = told == input_.feedback.end() ? input_.otherFeedback : told->second;
      return feedback.busy || !stepProposal(*job, podsOf(*job), contextOf(feedback)).evicts;
    });
    return standing;
  }

  GangContext contextOf(const JobFeedback& feedback) const {
    return {input_.snapshot.now,   &settings_,           &ledger_, &feedback,
            &input_.snapshot.jobs, &input_.snapshot.pods};
  }

  // --- phase 2: one job at a time
  // -------------------------------------------------------------------------------

  void decideAll() {
    // Both are sorted by key.
    auto told = input_.feedback.begin();
    for (position_ = 0; position_ < input_.snapshot.jobs.size(); ++position_) {
      const JobPtr& job = input_.snapshot.jobs[position_];
      // A gang that has nothing to do itself may still have to make room.
      const bool settled = staysSettled(cache_.notes().of(position_));
      const bool called = (!evictions_.empty() && evictions_.contains(job->key)) || lifeOf(*job) != nullptr;
      if (settled && !called) continue;
      feedback_ = &input_.otherFeedback;
      for (; told != input_.feedback.end(); ++told) {
        const auto order = told->first <=> job->key;
        if (order == 0) feedback_ = &told->second;
        if (order >= 0) break;
      }
      decide(job);
    }
  }

  const LifeSign* lifeOf(const Job& job) const {
    if (input_.life.empty()) return nullptr;
    const auto found = input_.life.find(job.key);
    return found == input_.life.end() ? nullptr : &found->second;
  }

  bool staysSettled(const JobNotes::Note& note) {
    if (!note.settled || !note.settledUntil) return note.settled;
    wakeAt(note.settledUntil);
    return input_.snapshot.now < *note.settledUntil;
  }

  void decide(const JobPtr& job) {
    // Whoever `waits` has no pods.
    const bool waits = cache_.notes().of(position_).waits;
    if (!waits) chargeLeaving(*job);
    if (feedback_->busy) return keepTurn(job);
    if (waits && !admitTemplate(*feedback_)) return wait(job);
    if (model::leftToOthers(*job)) return;
    if (job->status.gang.proposal) return job->status.gang.proposal->movesFor ? awaitMove(job) : stepOn(job);
    if (job->deleting) return drainDeleted(job);
    if (job->finished()) return cleanUpFinished(job);
    if (job->status.gang.placed) return watchPlaced(job);
    if (const auto strays = strayPods(*job, podsOf(*job)); !strays.empty()) return removeStrays(job, strays);
    if (job->spec.run.suspend) return write(job, job->status.gang, {}, {.suspended = true});
    admitOrRefuse(job);
  }

  // Pods that no record keeps any more hold their places until they are gone, and whoever they belong to is
  // charged for them. Where a gang runs in peace it has none but strays.
  void chargeLeaving(const Job& job) {
    const JobPods& pods = podsOf(job);
    if (pods.empty()) return;
    const GangRecord& gang = job.status.gang;
    const bool atPeace =
        gang.placed && !gang.proposal && !job.finished() && !job.deleting && !job.spec.run.suspend;
    if (atPeace && static_cast<std::int64_t>(pods.size()) <= memberCount(gang.placed->assignments)) return;
    queues_.chargeLeaving(queues_.queueOf(job), queues_.leavingOf(job, pods));
  }

  // A job whose last write is still under way cannot be planned now, but it does not lose its place in the
  // queue either: those behind it must not take the room that it waits for.
  void keepTurn(const JobPtr& job) {
    const model::GangRecord& gang = job->status.gang;
    const bool waits =
        !gang.placed && !gang.proposal && !job->deleting && !job->finished() && !job->spec.run.suspend;
    const bool backsOff = gang.backoff && input_.snapshot.now < gang.backoff->until;
    const model::Condition* admitted = job->condition(model::conditions::kAdmitted);
    const bool refused = admitted != nullptr && admitted->status == model::ConditionStatus::kFalse;
    if (!waits || backsOff || refused || !job->specError.empty()) return;
    waiting_.push_back({job, true});
  }

  void stepOn(const JobPtr& job) {
    GangStep step = stepProposal(*job, podsOf(*job), contextOf(*feedback_));
    wakeAt(step.wakeAt);
    if (job->recordUnwritten && !step.record && staysUnwritten(*job)) {
      add(job).actions = std::move(step.actions);
      return;
    }
    GangRecord record = step.record.value_or(job->status.gang);
    // A bound pod that another leader made: it is charged as what its job is now.
    if (record.placed && !record.charge) {
      record.charge =
          model::makeCharge(job->spec, queues_.askedQueueOf(*job), Priorities(input_.snapshot).of(*job));
    }
    StatusNews news;
    news.where = placesText(record);
    JobDecision& decision = derive(job, std::move(record), news);
    if (step.record) {
      decision.urgency = comesUp(*job, *step.record) ? Urgency::kSoon : Urgency::kNow;
    } else if (job->recordUnwritten) {
      decision.urgency = Urgency::kSoon;  // kube-scheduler takes its time with thousands of pods
    }
    decision.actions = std::move(step.actions);
    std::move(step.events.begin(), step.events.end(), std::back_inserter(decision.events));
    auto resized = step.record ? resizeEnded(*job, *step.record) : std::nullopt;
    // Of a single pod that did not have to wait kube-scheduler's own Event says as much.
    const bool placed = step.record && step.record->placed && !step.record->proposal && !resized;
    if (resized) {
      tellPlanAtSize(*job, decision);
      decision.events.push_back(std::move(*resized));
    }
    if (placed && job->status.gang.proposal->phase != model::ProposalPhase::kAborting &&
        (!job->recordUnwritten || job->status.pending)) {
      decision.events.push_back(
          {false, "Placed", placedText(model::gangMembers(job->spec, *step.record), news.where)});
    }
    Removal removal(ledger_, settings_, input_.snapshot.now);
    for (const model::Pod* stray : strayPods(*job, podsOf(*job))) removal.remove(*stray);
    finishRemoval(removal, decision);
  }

  void tellPlanAtSize(const Job& job, JobDecision& decision) const {
    const GangRecord& gang = decision.status->gang;
    if (!job.spec.plan.automatic || !gang.placed || gang.proposal) return;
    auto plan =
        planAtSize(job, gang.placed->assignments, ledger_, input_.snapshot.policy, input_.snapshot.now);
    if (plan) decision.status->plan = std::move(*plan);
  }

  // A single pod is bound within moments, and then one write tells of it. One that is not is told of.
  bool staysUnwritten(const Job& job) {
    const JobPods& pods = podsOf(job);
    const base::WallTime patience =
        (pods.empty() ? input_.snapshot.now : pods.front()->created) + input_.settings.startingPatience;
    if (input_.snapshot.now >= patience) return false;
    wakeAt(patience);
    return true;
  }

  // A gang that is bound and about to run: being placed and running are then told by one write.
  bool comesUp(const Job& job, const GangRecord& record) const {
    if (!record.placed || record.proposal || job.deleting || job.spec.run.suspend) return false;
    // Nobody waits for more members to run before the job is told that it has fewer.
    const auto& proposal = job.status.gang.proposal;
    if (proposal && proposal->kind == model::ProposalKind::kShrink) return false;
    const std::vector<Member> members = placedMembers(job, *record.placed, podsOf(job));
    const auto isUp = [](const Member& m) {
      return m.pod != nullptr && m.pod->phase == model::PodPhase::kRunning;
    };
    const auto comes = [](const Member& m) {
      return m.pod != nullptr && m.pod->phase == model::PodPhase::kPending && !m.pod->terminating;
    };
    return std::all_of(members.begin(), members.end(),
                       [&](const Member& m) { return isUp(m) || comes(m); }) &&
           !std::all_of(members.begin(), members.end(), isUp);
  }

  void drainDeleted(const JobPtr& job) {
    JobDecision& decision = add(job);
    removePods(podsOf(*job), decision);
    if (podsOf(*job).empty() && job->hasReleaseFinalizer) decision.actions.emplace_back(RemoveFinalizer{});
  }

  void removePods(const JobPods& pods, JobDecision& decision) {
    Removal removal(ledger_, settings_, input_.snapshot.now);
    for (const auto& pod : pods) removal.remove(*pod);
    finishRemoval(removal, decision);
  }

  void finishRemoval(Removal& removal, JobDecision& decision) {
    for (Action& action : removal.takeActions()) decision.actions.push_back(std::move(action));
    wakeAt(removal.wakeAt());
  }

  void cleanUpFinished(const JobPtr& job) {
    const std::optional<base::WallTime> goneAt = timeToGo(*job);
    if (goneAt && input_.snapshot.now >= *goneAt) {
      add(job).actions.emplace_back(DeleteJob{});
      return;
    }
    Removal removal(ledger_, settings_, input_.snapshot.now);
    for (const auto& pod : podsOf(*job)) {
      if (cleansUp(*job, *pod)) removal.remove(*pod);
    }
    wakeAt(goneAt);
    if (!removal.done()) return finishRemoval(removal, add(job));
    const JobPods& pods = podsOf(*job);
    // As long as one runs on its queue is charged for it.
    if (std::all_of(pods.begin(), pods.end(), [](const auto& pod) { return pod->finished(); }))
      settle(goneAt);
  }

  void watchPlaced(const JobPtr& job) {
    if (job->spec.run.suspend) return stopForSuspension(job);
    const auto& placed = *job->status.gang.placed;
    const std::vector<Member> members = placedMembers(*job, placed, podsOf(*job));
    StatusNews news;
    news.where = placesText(job->status.gang);
    news.verdict = judge(*job, members);
    const bool ended =
        news.verdict.outcome == Outcome::kSucceeded || news.verdict.outcome == Outcome::kFailed;
    if (const auto claimant = evictions_.find(job->key); claimant != evictions_.end() && !ended) {
      return evict(job, claimant->second);
    }
    const std::optional<base::WallTime> deadline = deadlineOf(*job, input_.snapshot.now);
    if (deadline && input_.snapshot.now >= *deadline && news.verdict.outcome != Outcome::kSucceeded)
      return follow(job, endAtDeadline(*job, input_.snapshot.now));
    wakeAt(deadline);
    if (news.verdict.outcome == Outcome::kLost) return replaceLostMembers(job, members, news);
    if (news.verdict.outcome == Outcome::kFailed) return followFailed(job, members, news.verdict);
    if (news.verdict.outcome == Outcome::kRunning) {
      news.life = lifeOf(*job);
      if (news.life != nullptr && news.life->silentSince && job->spec.health.restartStalled)
        return follow(job,
                      anew(*job, followStall(*job, members, *news.life->silentSince, mayStartAnewHere(*job),
                                             ledger_, cache_.domains(), author())));
    }
    JobDecision& decision = derive(job, job->status.gang, news);
    // Every member has its pod here; only where there are more is it worth looking for strays.
    const bool strays = podsOf(*job).size() > members.size();
    if (strays) {
      Removal removal(ledger_, settings_, input_.snapshot.now);
      for (const model::Pod* stray : strayPods(*job, podsOf(*job))) removal.remove(*stray);
      finishRemoval(removal, decision);
    }
    if (news.verdict.outcome == Outcome::kRunning) {
      if (!strays && !job->recordUnwritten && !someEnded(*job) && asksForAnotherSize(*job))
        return scaling_.push_back(job);
      if (job->recordUnwritten && comesUp(*job, job->status.gang)) decision.urgency = Urgency::kSoon;
      tellSilence(*job, news, decision);
      if (!strays && *decision.status == job->status) settle(deadline);
      return;
    }
    decision.urgency = Urgency::kNow;
    decision.events.push_back({false, news.verdict.reason, news.verdict.message});
    discharge(*job);
  }

  // Whoever starts in this cycle on the places of a job that has ended must not look like more of the
  // queue's.
  void discharge(const Job& job) {
    queues_.discharge(queues_.queueOf(job), queues_.holdingsOf(job), !model::chargedPreemptible(job));
  }

  // Members ended with an error. What of is asked first: it decides what follows.
  void followFailed(const JobPtr& job, const std::vector<Member>& members, const Verdict& verdict) {
    if (pausesInPlace(*job)) return resumeFailed(job, members, verdict);
    const std::optional<Failure> checked = failedPreflight(verdict);
    if (!feedback_->failure && !checked) {
      add(job).actions.emplace_back(CollectEvidence{});
      return;
    }
    FailedGang gang = followFailure(*job, members, verdict, checked ? *checked : *feedback_->failure,
                                    mayStartAnewHere(*job), ledger_, cache_.domains(), author());
    follow(job, anew(*job, std::move(gang)));
  }

  void resumeFailed(const JobPtr& job, const std::vector<Member>& members, const Verdict& verdict) {
    StatusNews news;
    if (news.pending = backingOff(*job); news.pending) return write(job, job->status.gang, {}, news);
    follow(job, anew(*job, replaceAfterPause(*job, members, verdict, mayStartAnewHere(*job), ledger_,
                                             cache_.domains(), author())));
  }

  // With its new places taken, where it starts at once.
  FailedGang anew(const Job& job, FailedGang gang) {
    take(job, gang.places);
    if (!gang.places.empty())
      gang.news.where = describePlaces(gang.places, ledger_, input_.snapshot.policy.topology);
    return gang;
  }

  // Once, when it begins.
  static void tellSilence(const Job& job, const StatusNews& news, JobDecision& decision) {
    const bool silent = news.life != nullptr && news.life->silentSince.has_value();
    if (!silent || job.conditionTrue(model::conditions::kStalled)) return;
    decision.urgency = Urgency::kNow;
    decision.events.push_back({true, "Stalled", silenceText(job, *news.life->silentSince)});
  }

  void follow(const JobPtr& job, FailedGang gang) {
    JobDecision& decision = derive(job, std::move(gang.record), gang.news);
    decision.urgency = Urgency::kNow;
    decision.events.push_back(std::move(gang.event));
    if (gang.news.verdict.outcome == Outcome::kFailed) discharge(*job);
  }

  // It makes room by going elsewhere, once the claim stands that it does so for; without that it stays.
  void awaitMove(const JobPtr& job) {
    const GangRecord& gang = job->status.gang;
    const auto& topology = input_.snapshot.policy.topology;
    StatusNews news;
    if (evictions_.contains(job->key) && gang.proposal->kind == model::ProposalKind::kShrink) {
      const model::ObjectKey claimant = *gang.proposal->movesFor;
      GangRecord record = beginShrink(*job, author());
      const auto shrink = resizeUnderWay(job->spec, record);
      news.where = placesText(record);
      write(job, std::move(record),
            {{true, "Resizing", fmt::format("makes room for {}: {}", claimant, describeResize(*shrink))}},
            news);
      plan_.decisions.back().urgency = Urgency::kNow;
      return;
    }
    if (evictions_.contains(job->key)) {
      news.preemptedBy = gang.proposal->movesFor;
      news.where = describePlaces(gang.proposal->add, ledger_, topology);
      write(job, beginMove(*job),
            {{true, "Moved",
              fmt::format("makes room for {}; starts anew on {}", *news.preemptedBy, news.where)}},
            news);
      plan_.decisions.back().urgency = Urgency::kNow;
      return;
    }
    news.where = describePlaces(gang.placed->assignments, ledger_, topology);
    const JobPods& pods = podsOf(*job);
    const bool runs = judge(*job, placedMembers(*job, *gang.placed, pods)).outcome == Outcome::kRunning;
    const bool wanted =
        runs && !job->deleting && !job->spec.run.suspend && isClaimedBy(*gang.proposal->movesFor, pods);
    write(job, wanted ? gang : withdrawMove(*job), {}, news);
    if (!wanted) plan_.decisions.back().urgency = Urgency::kNow;
  }

  bool isClaimedBy(const model::ObjectKey& claimant, const JobPods& pods) const {
    const auto& jobs = input_.snapshot.jobs;
    const auto at =
        std::lower_bound(jobs.begin(), jobs.end(), claimant,
                         [](const JobPtr& each, const auto& wanted) { return each->key < wanted; });
    return at != jobs.end() && (*at)->key == claimant && claimsAny(**at, pods);
  }

  // Another gang's claim names its pods: it makes room as a whole and waits again.
  void evict(const JobPtr& job, const model::ObjectKey& claimant) {
    StatusNews news;
    news.preemptedBy = claimant;
    JobDecision& decision = derive(
        job,
        propose(*job, model::ProposalKind::kRestart, {}, job->status.gang.placed->assignments, {}, author()),
        news);
    decision.urgency = Urgency::kNow;
    decision.events.push_back({true, "Preempted", fmt::format("makes room for {}; waits again", claimant)});
  }

  void replaceLostMembers(const JobPtr& job, const std::vector<Member>& members, StatusNews news) {
    // An attempt to replace them was given up: the others run on, and it is not tried again at once.
    if (news.pending = backingOff(*job); news.pending) {
      news.verdict = {};
      return write(job, job->status.gang, {}, news);
    }
    Replacement replacement =
        mayStartAnewHere(*job)
            ? replaceLost(*job, members, news.verdict.lost, ledger_, cache_.domains(), author())
            : Replacement{propose(*job, model::ProposalKind::kRestart, {},
                                  job->status.gang.placed->assignments, {}, author()),
                          {}};
    take(*job, replacement.places);
    const std::string lost = news.verdict.message;
    news.failure = failureOfLost(news.verdict.lost, lost, input_.snapshot.now);
    news.restarts = RestartNews::kNotCounted;
    news.verdict = {};
    if (!replacement.places.empty()) {
      news.where = describePlaces(replacement.places, ledger_, input_.snapshot.policy.topology);
    }
    JobDecision& decision = derive(job, std::move(replacement.record), news);
    decision.urgency = Urgency::kNow;
    decision.events.push_back({true, "MemberLost", lost});
  }

  // Not where it was suspended, edited and resumed while its pods were still ending: what it is now nobody
  // has admitted, to a queue that may not even be open to it.
  bool mayStartAnewHere(const Job& job) const {
    return job.specError.empty() && model::sameToItsQueue(job, queues_.askedQueueOf(job));
  }

  Author author() const { return {input_.term, input_.snapshot.now, &settings_}; }

  void take(const Job& job, const std::vector<model::Assignment>& assignments) {
    for (const model::Assignment& assignment : assignments) {
      const model::Role* role = job.spec.findRole(assignment.role);
      ledger_.take(*ledger_.find(assignment.node), role->shape.requests,
                   static_cast<int>(assignment.indices.size()), &job);
    }
  }

  void stopForSuspension(const JobPtr& job) {
    if (podsOf(*job).empty()) {
      GangRecord record = job->status.gang;
      record.placed.reset();
      record.charge.reset();
      return write(job, std::move(record), {{false, "Suspended", "All pods are gone; the places are free"}},
                   {.suspended = true});
    }
    JobDecision& decision = derive(job, job->status.gang, {.suspended = true});
    removePods(podsOf(*job), decision);
  }

  void removeStrays(const JobPtr& job, const std::vector<const model::Pod*>& strays) {
    StatusNews news;
    news.pending =
        model::Pending{model::PendingReason::kCleaningUp,
                       fmt::format("{} pods of an earlier attempt are still going away", strays.size())};
    JobDecision& decision = derive(job, job->status.gang, news);
    Removal removal(ledger_, settings_, input_.snapshot.now);
    for (const model::Pod* stray : strays) removal.remove(*stray);
    finishRemoval(removal, decision);
    ++plan_.waiting;
  }

  void refuse(const JobPtr& job, const model::Pending& refusal) {
    StatusNews news;
    news.pending = refusal;
    news.admitted = false;
    const bool isNews = !job->status.pending || job->status.pending->message != refusal.message;
    std::vector<JobEvent> events;
    if (isNews) events.push_back({true, std::string(model::toString(refusal.reason)), refusal.message});
    write(job, job->status.gang, std::move(events), news);
  }

  // spec.plan.mode Auto: its shape is written before anything else is asked of it. The next cycle sees the
  // job as large as that, and so does everybody who reads it.
  void plan(const JobPtr& job) {
    ++plan_.waiting;
    if (planned_ == kMostPlans) return wakeAt(input_.snapshot.now + kNextPlans);
    ShapeDecision decided = decideShape(*job, ledger_, queues_, input_.snapshot);
    if (!decided.refusal.empty()) {
      --plan_.waiting;
      return refuse(job, {model::PendingReason::kInvalidSpec, std::move(decided.refusal)});
    }
    ++planned_;
    JobDecision& decision = add(job);
    decision.status = job->status;
    decision.events.push_back({decided.plan.roles.empty(),
                               decided.plan.roles.empty() ? "NotPlanned" : "Planned", decided.plan.message});
    decision.status->plan = std::move(decided.plan);
  }

  void admitOrRefuse(const JobPtr& job) {
    if (wantsShape(*job)) return plan(job);
    const Admission admission = admit(*job, input_.snapshot, queues_, *feedback_);
    if (admission.refusal) return refuse(job, *admission.refusal);
    if (admission.needsTemplateCheck) {
      if (!feedback_->templateAsked) add(job).actions.emplace_back(CheckTemplates{});
      return keepTurn(job);
    }
    StatusNews news;
    if (const model::Pod* former = podOfFormerJob(*job)) {
      ++plan_.waiting;
      news.pending = model::Pending{
          model::PendingReason::kCleaningUp,
          fmt::format("pod {} of the TrainingJob that had this name before {}", former->key.name,
                      former->terminating ? "is still ending" : "has not been deleted yet")};
      return write(job, job->status.gang, {}, news);
    }
    if (news.pending = backingOff(*job); news.pending) {
      ++plan_.waiting;
      return write(job, job->status.gang, {}, news);
    }
    if (!job->volumeProblem.empty()) {
      ++plan_.waiting;
      news.pending = model::Pending{model::PendingReason::kNoMatchingNodes, job->volumeProblem};
      return write(job, job->status.gang, {}, news);
    }
    cache_.notes().of(position_).waits = podsOf(*job).empty() && !job->status.gang.backoff;
    wait(job);
  }

  // A pod that goes with a deleted job whose name this one has taken: until then its own cannot be made. Of a
  // gang of one, which has no finalizer; a larger one's name becomes free only when its pods are gone.
  const model::Pod* podOfFormerJob(const Job& job) const {
    if (model::gangMembers(job) != 1) return nullptr;
    const auto role =
        std::find_if(job.spec.roles.begin(), job.spec.roles.end(),
                     [&](const model::Role& each) { return model::gangMembers(job, each) == 1; });
    if (role == job.spec.roles.end()) return nullptr;
    const model::ObjectKey key{job.key.ns, model::podName(job.key.name, role->name, 0)};
    const auto& pods = input_.snapshot.pods.items();
    const auto at = std::lower_bound(pods.begin(), pods.end(), key,
                                     [](const auto& pod, const auto& wanted) { return pod->key < wanted; });
    const bool found = at != pods.end() && (*at)->key == key;
    return found && isOfFormerJob(**at, job) ? at->get() : nullptr;
  }

  void wait(const JobPtr& job) {
    ++plan_.waiting;
    waiting_.push_back({job});
  }

  // Nothing is to be done for the job that is being decided, before that time at least.
  void settle(std::optional<base::WallTime> until = std::nullopt) {
    JobNotes::Note& note = cache_.notes().of(position_);
    note.settled = true;
    note.settledUntil = until;
    wakeAt(until);
  }

  // Why the next attempt has to wait; nothing when it need not.
  std::optional<model::Pending> backingOff(const Job& job) {
    const auto& backoff = job.status.gang.backoff;
    if (!backoff || input_.snapshot.now >= backoff->until) return std::nullopt;
    wakeAt(backoff->until);
    if (backoff->count == 0) {
      return model::Pending{
          model::PendingReason::kBackingOff,
          fmt::format("{}; the next start follows at {}", backoff->reason, base::formatTime(backoff->until))};
    }
    return model::Pending{model::PendingReason::kBackingOff,
                          fmt::format("attempt {} was given up ({}); the next follows at {}", backoff->count,
                                      backoff->reason, base::formatTime(backoff->until))};
  }

  // --- phases 3 to 9: the waiting jobs
  // ------------------------------------------------------------------------

  void placeWaiting() {
    countStarting();
    Schedule schedule = core::schedule({.snapshot = input_.snapshot,
                                        .ledger = ledger_,
                                        .domains = cache_.domains(),
                                        .queues = queues_,
                                        .cache = cache_.schedule(),
                                        .waiting = std::move(waiting_),
                                        .startingMembers = starting_,
                                        .mostStartingMembers = input_.settings.startingMembers});
    std::vector<Change> payments;  // for the next start
    for (Change& change : schedule.changes) {
      const bool resizes = change.kind == ChangeKind::kGrow || change.kind == ChangeKind::kShrink;
      if (resizes && !change.pays) {
        if (!someEnded(*change.job)) resize(change, model::SizeOwner::kCluster);
        paying_.insert(change.job->key);
        continue;
      }
      if (change.kind != ChangeKind::kStart) {
        payments.push_back(std::move(change));
        continue;
      }
      if (!change.silent) begin(change, payments);
      payments.clear();
    }
    for (const GangWait& wait : schedule.waits) {
      if (wait.silent || staysTold(wait) || timedOut(wait)) continue;
      if (wait.behindStarting) {
        explainStarting(wait);
      } else {
        explain(wait);
      }
    }
    for (const GangYield& yield : schedule.yields) giveWay(yield);
    scale(schedule);
    plan_.queues = std::move(schedule.queues);
    plan_.sizes = schedule.sizes;
    wakeAt(schedule.wakeAt);
  }

  // --- phase 8
  // --------------------------------------------------------------------------------------------------------

  void scale(const Schedule& schedule) {
    leaveOutClaimed();
    if (scaling_.empty()) return;
    const ScaleRequest request{
        .snapshot = input_.snapshot,
        .ledger = ledger_,
        .domains = cache_.domains(),
        .queues = queues_,
        .gangs = std::move(scaling_),
        .keptFor = [&](const Job& job,
                       const auto& places) { return schedule.keptFor(job, places, ledger_, queues_); },
        .unreached = cache_.schedule().notScaled};
    ScaleAnswer answer = scaleAsAsked(request);
    wakeAt(answer.wakeAt);
    for (const Change& change : answer.changes) resize(change, model::SizeOwner::kSpec);
    if (answer.held.empty()) return;
    for (JobDecision& decision : plan_.decisions) {
      const auto held = answer.held.find(decision.job->key);
      // Whoever gets a part of it is told what is left when that has come.
      if (held == answer.held.end() || !decision.status || decision.status->gang.proposal) continue;
      tellResize(*decision.job, held->second, input_.snapshot.now, *decision.status);
    }
  }

  // A gang of which a member has ended well is about to end: whoever joined it would find nobody.
  bool someEnded(const Job& job) {
    const auto& pods = podsOf(job);
    return std::any_of(pods.begin(), pods.end(),
                       [](const auto& pod) { return pod->phase == model::PodPhase::kSucceeded; });
  }

  // Whoever has to go for another one, now or when that one's claim stands, does not change before.
  void leaveOutClaimed() {
    if (scaling_.empty()) return;
    std::vector<JobPtr> claimants = cache_.notes().proposing();
    std::erase_if(claimants, [](const JobPtr& job) { return job->status.gang.proposal->victims.empty(); });
    const auto claimed = claimedGangs(claimants, input_.snapshot.pods);
    std::erase_if(scaling_, [&](const JobPtr& job) {
      return claimed.contains(job->key) || paying_.contains(job->key);
    });
  }

  // The gang gets another size: more members on `add`, or without those on `remove`.
  void resize(const Change& change, model::SizeOwner by) {
    const auto told = input_.feedback.find(change.job->key);
    if (told != input_.feedback.end() && told->second.busy) return;
    std::erase_if(plan_.decisions, [&](const JobDecision& decision) { return decision.job == change.job; });
    const bool grows = change.kind == ChangeKind::kGrow;
    GangRecord record = grows ? proposeGrow(*change.job, change.add.assignments, author())
                              : proposeShrink(*change.job, change.remove, change.pays, author());
    const auto under = resizeUnderWay(change.job->spec, record);
    StatusNews news;
    news.where = placesText(record);
    const int members = model::gangMembers(change.job->spec, record,
                                           *change.job->spec.findRole(change.job->spec.elastic->role));
    JobDecision& decision = derive(change.job, std::move(record), news);
    decision.urgency = Urgency::kNow;
    tellSize(*change.job, {members, by, whySize(change, by)}, input_.snapshot, decision.status->resize);
    if (!under) return;  // it waits for whom it makes room
    std::string note = describeResize(*under);
    if (grows)
      note += ", on " + describePlaces(change.add.assignments, ledger_, input_.snapshot.policy.topology);
    if (under->anew) note += "; its pods end, and start anew with the new size";
    decision.events.push_back({false, "Resizing", std::move(note)});
  }

  static std::string whySize(const Change& change, model::SizeOwner by) {
    switch (by) {
      case model::SizeOwner::kSpec: return "as spec.elastic.replicas asks";
      case model::SizeOwner::kPreemption: return fmt::format("makes room for {}", *change.pays);
      case model::SizeOwner::kCluster: break;
    }
    return change.kind == ChangeKind::kGrow ? "nobody waits for the room that it was given beyond its wish"
                                            : "others make more of what it gave back";
  }

  // With how many members an elastic gang starts.
  void tellStartSize(const Job& job, const GangRecord& record, model::ResizeStatus& status) const {
    if (!job.spec.elastic) return;
    const int members = model::gangMembers(job.spec, record, *job.spec.findRole(job.spec.elastic->role));
    status.cooldownUntil.reset();
    status.decidedBy = model::SizeOwner::kSpec;
    status.desired.reset();
    status.message.clear();
    if (members == wishedMembers(job)) return;
    status.desired = members;
    status.decidedBy = model::SizeOwner::kCluster;
    status.message = fmt::format("there was no room for all {} when it started", wishedMembers(job));
  }

  // Instead of the step that its proposal would take.
  void giveWay(const GangYield& yield) {
    const auto told = input_.feedback.find(yield.job->key);
    if (told != input_.feedback.end() && told->second.busy) return;
    std::erase_if(plan_.decisions, [&](const JobDecision& decision) { return decision.job == yield.job; });
    derive(yield.job,
           abortProposal(*yield.job, fmt::format("gives way to {}", yield.to), {}, input_.snapshot.now,
                         settings_),
           {})
        .urgency = Urgency::kNow;
  }

  // spec.scheduling.timeoutSeconds, counted while it waits.
  bool timedOut(const GangWait& wait) {
    const std::chrono::seconds timeout = wait.job->spec.schedulingTimeout;
    if (timeout.count() == 0) return false;
    const base::WallTime end = waitingSince(*wait.job, input_.snapshot.now) + timeout;
    if (input_.snapshot.now < end) {
      wakeAt(end);
      return false;
    }
    StatusNews news;
    news.verdict = {Outcome::kFailed, "SchedulingTimeout",
                    fmt::format("found no place within {} s: {}", timeout.count(), wait.pending->message)};
    JobDecision& decision = derive(wait.job, wait.job->status.gang, news);
    decision.urgency = Urgency::kNow;
    decision.events.push_back({true, news.verdict.reason, news.verdict.message});
    return true;
  }

  void countStarting() {
    for (const JobPtr& job : cache_.notes().proposing()) {
      const model::Proposal& proposal = *job->status.gang.proposal;
      if (proposal.phase == model::ProposalPhase::kReserved) starting_ += memberCount(proposal.add);
    }
  }

  // Those before it are enough for the API server at the moment.
  void explainStarting(const GangWait& wait) {
    const base::WallTime patience = wait.job->created + input_.settings.startingPatience;
    if (input_.snapshot.now < patience && !wait.job->status.pending) return wakeAt(patience);
    explain(wait, Urgency::kSpare);
  }

  void begin(Change& start, const std::vector<Change>& payments) {
    std::vector<JobPtr> gone;
    std::vector<model::Victim> victims;
    for (const Change& each : payments) {
      gone.push_back(each.job);
      paying_.insert(each.job->key);
      for (model::Victim& victim : victimsOf(each)) victims.push_back(std::move(victim));
    }
    StatusNews news;
    news.where = describePlaces(start.add.assignments, ledger_, input_.snapshot.policy.topology);
    GangRecord record = propose(*start.job, model::ProposalKind::kStart, std::move(start.add.assignments), {},
                                std::move(victims), author());
    record.charge = model::makeCharge(start.job->spec, queues_.askedQueueOf(*start.job),
                                      Priorities(input_.snapshot).of(*start.job));
    record.proposal->deadline += longestGrace(gone);
    JobDecision& decision = derive(start.job, record, news);
    decision.urgency = Urgency::kNow;
    tellStartSize(*start.job, record, decision.status->resize);
    tellGrace(*start.job, decision);
    if (gone.empty()) return startAlone(decision);
    decision.events.push_back(
        {false, "Preempting", fmt::format("{} to make room, once its own pods exist", describe(payments))});
    for (const Change& each : payments) {
      if (each.kind == ChangeKind::kMove) move(each);
      if (each.kind == ChangeKind::kShrink) resize(each, model::SizeOwner::kPreemption);
    }
  }

  // The pods that go for a start: of one that shrinks and runs on only those that leave it.
  std::vector<model::Victim> victimsOf(const Change& payment) const {
    std::vector<model::Victim> victims = victimPods({payment.job}, ledger_.pods());
    if (payment.kind != ChangeKind::kShrink || resizeWay(payment.job->spec) == ResizeWay::kAnew)
      return victims;
    std::set<model::ObjectKey> leave;
    for (const model::Assignment& each : payment.remove) {
      for (const int index : each.indices.values())
        leave.insert({payment.job->key.ns, model::podName(payment.job->key.name, each.role, index)});
    }
    std::erase_if(victims, [&](const model::Victim& victim) { return !leave.contains(victim.pod); });
    return victims;
  }

  // "stops ml/a and ml/b and shrinks ml/c".
  static std::string describe(const std::vector<Change>& payments) {
    std::vector<std::string> words;
    for (const auto& [kind, verb] :
         {std::pair(ChangeKind::kStop, "stops"), std::pair(ChangeKind::kMove, "moves"),
          std::pair(ChangeKind::kShrink, "shrinks")}) {
      std::vector<JobPtr> jobs;
      for (const Change& each : payments) {
        if (each.kind == kind) jobs.push_back(each.job);
      }
      if (!jobs.empty()) words.push_back(fmt::format("{} {}", verb, namesOf(jobs)));
    }
    return model::joinWords(words);
  }

  // A gang of one needs no record before its pod: the name is given once only.
  void startAlone(JobDecision& decision) const {
    const model::Proposal& start = *decision.status->gang.proposal;
    // One that could be larger is not known by its pod alone.
    if (memberCount(start.add) != 1 || model::gangMembers(*decision.job) != 1) return;
    decision.podIsRecord = true;
    decision.actions.emplace_back(CreateMember{start.add.front().role,
                                               start.add.front().indices.values().front(), start.epoch,
                                               start.add.front().node});
  }

  // That the victims of a claim have to end: it must not be given up while they may take it.
  std::chrono::seconds longestGrace(const std::vector<JobPtr>& victims) const {
    std::chrono::seconds longest{0};
    for (const JobPtr& victim : victims) {
      if (victim->spec.elastic) longest = std::max(longest, timeToLeave(victim->spec, settings_));
      for (const auto& pod : podsOf(*victim)) longest = std::max(longest, Removal::graceOf(*pod, settings_));
    }
    return longest;
  }

  // Who asks for more time to end than the policy gives is told before it matters.
  void tellGrace(const Job& job, JobDecision& decision) const {
    for (const model::Role& role : job.spec.roles) {
      if (role.grace <= settings_.maxGrace) continue;
      decision.events.push_back(
          {true, "GraceCapped",
           fmt::format(
               "pods of role {} ask for {} s to end; when they have to go they are given {} s, as the "
               "cluster's policy says (preemption.maxGrace)",
               role.name, role.grace.count(), settings_.maxGrace.count())});
    }
  }

  // Its new places are its own from the same plan on. One whose last write is under way is stopped by the
  // claim later, and waits again.
  void move(const Change& change) {
    const auto told = input_.feedback.find(change.job->key);
    if (told != input_.feedback.end() && told->second.busy) return;
    std::erase_if(plan_.decisions, [&](const JobDecision& decision) { return decision.job == change.job; });
    StatusNews news;
    news.where = placesText(change.job->status.gang);
    derive(change.job, proposeMove(*change.job, change.add.assignments, *change.pays, author()), news)
        .urgency = Urgency::kNow;
  }

  // Its status says so already, and it waits for as long as it takes.
  bool staysTold(const GangWait& wait) const {
    const JobNotes::Note& note = cache_.notes().of(wait.position);
    return note.told != nullptr && note.told == wait.pending && note.asks && !note.asks->timesOut;
  }

  void explain(const GangWait& wait, Urgency ofNews = Urgency::kNow) {
    JobNotes::Note& note = cache_.notes().of(wait.position);
    if (note.told == wait.pending) return;
    const JobPtr& job = wait.job;
    const model::Pending& pending = *wait.pending;
    const bool sameWords = job->status.pending && sameButSince(*job->status.pending, pending);
    if (sameWords && note.told) {
      note.told = wait.pending;
      return;
    }
    StatusNews news;
    news.pending = pending;
    std::vector<JobEvent> events;
    const bool sameReason = job->status.pending && job->status.pending->reason == pending.reason;
    if (!sameReason) events.push_back({false, std::string(model::toString(pending.reason)), pending.message});
    write(job, job->status.gang, std::move(events), news);
    JobDecision& decision = plan_.decisions.back();
    // The next cycle counts on from the passes that are written.
    const bool passed = job->status.pending && (job->status.pending->passes != pending.passes ||
                                                job->status.pending->reservedSince != pending.reservedSince);
    decision.urgency = sameReason && !passed ? Urgency::kSpare : ofNews;
    if (sameWords && *decision.status == job->status) note.told = wait.pending;
  }

  static bool sameButSince(const model::Pending& a, const model::Pending& b) {
    const auto allBut = [](const model::Pending& each) {
      return std::tie(each.reason, each.delay, each.passes, each.reservedSince, each.nextRelaxation,
                      each.estimatedStart, each.message, each.shortfall, each.blockedBy);
    };
    return allBut(a) == allBut(b);
  }

  void dropNothings() {
    for (JobDecision& decision : plan_.decisions) {
      if (decision.status && *decision.status == decision.job->status) decision.status.reset();
    }
    std::erase_if(plan_.decisions, [](const JobDecision& decision) {
      return !decision.status && decision.actions.empty() && decision.events.empty();
    });
  }

  // --- helpers
  // ------------------------------------------------------------------------------------------------------

  const JobPods& podsOf(const Job& job) const { return ledger_.pods().of(job); }

  std::string placesText(const GangRecord& record) const {
    // What joins a gang that runs is not where it is.
    const bool changes = record.proposal && !record.proposal->add.empty() &&
                         record.proposal->kind != model::ProposalKind::kGrow;
    if (changes) return describePlaces(record.proposal->add, ledger_, input_.snapshot.policy.topology);
    if (record.placed)
      return describePlaces(record.placed->assignments, ledger_, input_.snapshot.policy.topology);
    return {};
  }

  void wakeAt(std::optional<base::WallTime> time) {
    if (time && (!plan_.wakeAt || *time < *plan_.wakeAt)) plan_.wakeAt = time;
  }

  JobDecision& add(const JobPtr& job) {
    plan_.decisions.push_back({.job = job});
    return plan_.decisions.back();
  }

  // Members as the record to be written names them.
  std::vector<Member> membersOf(const Job& job, const GangRecord& record) const {
    if (record.placed) {
      std::vector<Member> members = placedMembers(job, *record.placed, podsOf(job));
      // Those that leave do not count as the gang's any more.
      const bool shrinks = record.proposal && record.proposal->kind == model::ProposalKind::kShrink &&
                           !record.proposal->movesFor;
      if (shrinks)
        std::erase_if(members, [&](const Member& m) { return record.proposal->removes(m.role, m.index); });
      return members;
    }
    if (record.proposal) return addedMembers(job, *record.proposal, podsOf(job));
    return {};
  }

  JobDecision& derive(const JobPtr& job, GangRecord record, const StatusNews& news) {
    JobDecision& decision = add(job);
    const std::vector<Member> members = membersOf(*job, record);
    decision.status = deriveStatus(*job, std::move(record), members, news, input_.snapshot.now);
    tellCharged(*job, *decision.status);
    decision.urgency = decision.status->phase == job->status.phase ? Urgency::kSpare : Urgency::kNow;
    return decision;
  }

  // Whether any Queue is charged for it, where there are Queues: without the object the default one has no
  // limit, and nobody sees what is used.
  void tellCharged(const Job& job, model::JobStatus& status) const {
    // Of one that has ended nobody asks any more, and one that waits for a Queue that is not there says so.
    if (job.finished()) return;
    const model::QueueName& name = queues_.queueNameOf(job);
    const auto index = queues_.find(name);
    if (!index && !status.gang.placed) return;
    const bool nobody = !input_.snapshot.queues.empty() && (!index || queues_.node(*index).queue == nullptr);
    const bool told = std::any_of(status.conditions.begin(), status.conditions.end(),
                                  [](const auto& each) { return each.type == model::conditions::kCharged; });
    if (!nobody && !told) return;
    model::setCondition(
        status.conditions, model::conditions::kCharged,
        nobody ? model::ConditionStatus::kFalse : model::ConditionStatus::kTrue,
        nobody ? "NoQueue" : "Charged",
        nobody ? chargedToNobody(job, name) : fmt::format("the job is charged to queue {}", name),
        input_.snapshot.now, job.generation);
  }

  static std::string chargedToNobody(const Job& job, const model::QueueName& name) {
    if (name.str() != model::names::kDefaultQueue)
      return fmt::format("the job is charged to nobody: the Queue \"{}\" that it was placed for is gone",
                         name);
    return fmt::format(
        "the job is charged to nobody: there are Queues, but it names none, and none is named \"default\"; "
        "set "
        "spec.queue, or the label {} of namespace {}",
        model::names::kDefaultQueueLabel, job.key.ns);
  }

  void write(const JobPtr& job, GangRecord record, std::vector<JobEvent> events, const StatusNews& news) {
    derive(job, std::move(record), news).events = std::move(events);
  }

  const CycleInput& input_;
  Settings settings_;
  CycleCache& cache_;
  Ledger& ledger_;
  QueueTree queues_;
  std::map<model::ObjectKey, model::ObjectKey> evictions_;  // gangs that others' claims name, and whose
  std::vector<WaitingJob> waiting_;
  std::set<model::ObjectKey> paying_;  // gangs that make room for a start of this plan
  std::vector<JobPtr> scaling_;        // gangs in peace that are asked to have another size
  int planned_ = 0;                    // shapes that this cycle has chosen
  std::int64_t starting_ = 0;          // members from Reserve to bound
  // Of the job that is being decided.
  const JobFeedback* feedback_ = nullptr;
  std::size_t position_ = 0;
  Plan plan_;
};

}  // namespace

Plan cycle(const CycleInput& input, CycleCache& cache) { return Cycle(input, cache).run(); }

Plan cycle(const CycleInput& input) {
  CycleCache cache;
  return cycle(input, cache);
}

}  // namespace trainyard::core
