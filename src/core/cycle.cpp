#include "core/cycle.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "core/admission.h"
#include "core/describe.h"
#include "core/explain.h"
#include "core/gang_proposals.h"
#include "core/gang_protocol.h"
#include "core/gang_removal.h"
#include "core/job_status.h"
#include "core/ledger.h"
#include "core/members.h"
#include "core/order.h"
#include "core/place.h"
#include "model/conditions.h"

namespace trainyard::core {
namespace {

using model::GangRecord;
using model::Job;
using JobPtr = std::shared_ptr<const Job>;

constexpr std::string_view kOurselves = "trainyard.dev/operator";

std::string placedText(int pods, const std::string& where) {
  if (pods == 1) return fmt::format("The pod is placed on {}", where);
  return fmt::format("The whole gang is placed: {} pods on {}", pods, where);
}

class Cycle {
 public:
  explicit Cycle(const CycleInput& input)
      : input_(input), ledger_(input.snapshot), podsByJob_(groupByJob(input.snapshot)) {}

  Plan run() {
    for (const JobPtr& job : input_.snapshot.jobs) decide(job);
    placeWaiting();
    sweepOrphans();
    dropNothings();
    return std::move(plan_);
  }

 private:
  // --- phase 2: one job at a time
  // -------------------------------------------------------------------------------

  void decide(const JobPtr& job) {
    if (feedbackOf(*job).busy) return keepTurn(job);
    if (!job->spec.run.managedBy.empty() && job->spec.run.managedBy != kOurselves) return;
    if (job->status.gang.proposal) return stepOn(job);
    if (job->deleting) return drainDeleted(job);
    if (job->finished()) return cleanUpFinished(job);
    if (job->status.gang.placed) return watchPlaced(job);
    if (const auto strays = strayPods(*job, podsOf(*job)); !strays.empty()) return removeStrays(job, strays);
    if (job->spec.run.suspend) return write(job, job->status.gang, {}, {.suspended = true});
    admitOrRefuse(job);
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
    waiting_.push_back(job);
    keepsTurn_.insert(job.get());
  }

  void stepOn(const JobPtr& job) {
    const GangContext context{input_.snapshot.now, &input_.settings,      &ledger_,
                              &feedbackOf(*job),   &input_.snapshot.jobs, &input_.snapshot.pods};
    GangStep step = stepProposal(*job, podsOf(*job), context);
    wakeAt(step.wakeAt);
    GangRecord record = step.record.value_or(job->status.gang);
    StatusNews news;
    news.where = placesText(record);
    JobDecision& decision = derive(job, std::move(record), news);
    if (step.record) decision.deferrable = false;
    decision.actions = std::move(step.actions);
    std::move(step.events.begin(), step.events.end(), std::back_inserter(decision.events));
    if (step.record && step.record->placed && !step.record->proposal) {
      decision.events.push_back({false, "Placed", placedText(job->spec.totalReplicas(), news.where)});
    }
    Removal removal(ledger_, input_.settings, input_.snapshot.now);
    for (const model::Pod* stray : strayPods(*job, podsOf(*job))) removal.remove(*stray);
    finishRemoval(removal, decision);
  }

  void drainDeleted(const JobPtr& job) {
    JobDecision& decision = add(job);
    removePods(podsOf(*job), decision);
    if (podsOf(*job).empty() && job->hasReleaseFinalizer) decision.actions.emplace_back(RemoveFinalizer{});
  }

  void removePods(const JobPods& pods, JobDecision& decision) {
    Removal removal(ledger_, input_.settings, input_.snapshot.now);
    for (const auto& pod : pods) removal.remove(*pod);
    finishRemoval(removal, decision);
  }

  void finishRemoval(Removal& removal, JobDecision& decision) {
    for (Action& action : removal.takeActions()) decision.actions.push_back(std::move(action));
    wakeAt(removal.wakeAt());
  }

  void cleanUpFinished(const JobPtr& job) {
    if (job->spec.run.cleanPodPolicy == model::CleanPodPolicy::kNone) return;
    const bool all = job->spec.run.cleanPodPolicy == model::CleanPodPolicy::kAll;
    JobDecision& decision = add(job);
    Removal removal(ledger_, input_.settings, input_.snapshot.now);
    for (const auto& pod : podsOf(*job)) {
      if (all || !pod->finished()) removal.remove(*pod);
    }
    finishRemoval(removal, decision);
  }

  void watchPlaced(const JobPtr& job) {
    if (job->spec.run.suspend) return stopForSuspension(job);
    const auto& placed = *job->status.gang.placed;
    const std::vector<Member> members = placedMembers(*job, placed, podsOf(*job));
    StatusNews news;
    news.where = placesText(job->status.gang);
    news.verdict = judge(*job, members);
    if (news.verdict.outcome == Outcome::kLost) return replaceLost(job, members, news);
    JobDecision& decision = derive(job, job->status.gang, news);
    // Every member has its pod here; only where there are more is it worth looking for strays.
    if (podsOf(*job).size() > members.size()) {
      Removal removal(ledger_, input_.settings, input_.snapshot.now);
      for (const model::Pod* stray : strayPods(*job, podsOf(*job))) removal.remove(*stray);
      finishRemoval(removal, decision);
    }
    if (news.verdict.outcome == Outcome::kRunning) return;
    decision.deferrable = false;
    decision.events.push_back(
        {news.verdict.outcome == Outcome::kFailed, news.verdict.reason, news.verdict.message});
  }

  // Members were lost: the whole gang starts anew, or only they do, on places planned now. Without room for
  // it the gang goes back to waiting: a few members alone would hold GPUs for nothing.
  void replaceLost(const JobPtr& job, const std::vector<Member>& members, StatusNews news) {
    // An attempt to replace them was given up: the others run on, and it is not tried again at once.
    if (news.pending = backingOff(*job); news.pending) {
      news.verdict = {};
      return write(job, job->status.gang, {}, news);
    }
    const bool whole = job->spec.restartScope == model::RestartScope::kGang;
    const std::vector<Member>& replaced = whole ? members : news.verdict.lost;
    PlaceRequest request = requestFor(*job, replaced);
    auto planned = placeAvoiding(request, roomWithout(*job, replaced));
    std::vector<model::Assignment> add;
    if (auto* placement = std::get_if<Placement>(&planned)) add = std::move(placement->assignments);
    const auto kind = whole || add.empty() ? model::ProposalKind::kRestart : model::ProposalKind::kReplace;
    std::vector<model::Assignment> remove = kind == model::ProposalKind::kRestart
                                                ? job->status.gang.placed->assignments
                                                : assignmentsOf(replaced);
    take(*job, add);
    const std::string lost = news.verdict.message;
    news.verdict = {};
    if (!add.empty()) news.where = describePlaces(add, ledger_, input_.snapshot.topology);
    JobDecision& decision =
        derive(job, propose(*job, kind, std::move(add), std::move(remove), {}, author()), news);
    decision.deferrable = false;
    decision.events.push_back({true, "MemberLost", lost});
  }

  // The free room as it will be when these members are gone.
  Ledger roomWithout(const Job& job, const std::vector<Member>& members) const {
    Ledger room = ledger_;
    for (const Member& member : members) {
      const model::Role* role = job.spec.findRole(member.role);
      const bool counted = member.pod != nullptr && !member.pod->finished();
      const auto at = room.find(counted ? member.pod->node : member.node);
      if (!at || role == nullptr) continue;
      // A member that ended well holds nothing any more.
      if (member.pod != nullptr && member.pod->phase == model::PodPhase::kSucceeded) continue;
      room.giveBack(*at, counted ? member.pod->shape.requests : role->shape.requests, 1, &job);
    }
    return room;
  }

  static PlaceRequest requestFor(const Job& job, const std::vector<Member>& members) {
    PlaceRequest request;
    request.job = &job;
    for (const model::Role& role : job.spec.roles) {
      std::vector<int> indices;
      for (const Member& member : members) {
        if (member.role == role.name) indices.push_back(member.index);
      }
      if (!indices.empty()) request.groups.push_back({&role, model::IndexSet(std::move(indices))});
    }
    return request;
  }

  static std::vector<model::Assignment> assignmentsOf(const std::vector<Member>& members) {
    std::vector<model::Assignment> assignments;
    for (const Member& member : members) {
      assignments.push_back({member.node, member.role, model::IndexSet({member.index})});
    }
    return assignments;
  }

  Author author() const { return {input_.term, input_.snapshot.now, &input_.settings}; }

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
    Removal removal(ledger_, input_.settings, input_.snapshot.now);
    for (const model::Pod* stray : strays) removal.remove(*stray);
    finishRemoval(removal, decision);
    ++plan_.waiting;
  }

  void admitOrRefuse(const JobPtr& job) {
    const Admission admission = admit(*job, input_.snapshot, feedbackOf(*job));
    if (admission.refusal) {
      StatusNews news;
      news.pending = admission.refusal;
      news.admitted = false;
      const bool isNews = !job->status.pending || job->status.pending->message != admission.refusal->message;
      std::vector<JobEvent> events;
      if (isNews) {
        events.push_back(
            {true, std::string(model::toString(admission.refusal->reason)), admission.refusal->message});
      }
      return write(job, job->status.gang, std::move(events), news);
    }
    if (admission.needsTemplateCheck) {
      add(job).actions.emplace_back(CheckTemplates{});
      return keepTurn(job);
    }
    ++plan_.waiting;
    StatusNews news;
    if (news.pending = backingOff(*job); news.pending) return write(job, job->status.gang, {}, news);
    waiting_.push_back(job);
  }

  // Why the next attempt has to wait; nothing when it need not.
  std::optional<model::Pending> backingOff(const Job& job) {
    const auto& backoff = job.status.gang.backoff;
    if (!backoff || input_.snapshot.now >= backoff->until) return std::nullopt;
    wakeAt(backoff->until);
    return model::Pending{model::PendingReason::kBackingOff,
                          fmt::format("attempt {} was given up ({}); the next follows at {}", backoff->count,
                                      backoff->reason, base::formatTime(backoff->until))};
  }

  // Better a node that failed the last attempt than to wait for one that may never come; the back-off grows.
  std::variant<Placement, Misfit> placeAvoiding(PlaceRequest& request, const Ledger& room) const {
    if (request.job->status.gang.backoff) request.avoidNodes = request.job->status.gang.backoff->avoidNodes;
    auto placed = place(request, room, input_.snapshot.topology);
    if (std::holds_alternative<Placement>(placed) || request.avoidNodes.empty()) return placed;
    request.avoidNodes.clear();
    return place(request, room, input_.snapshot.topology);
  }

  // --- phases 4, 5 and 9: the waiting jobs
  // ------------------------------------------------------------------------

  void placeWaiting() {
    orderWaiting(waiting_, input_.snapshot);
    std::map<model::QueueName, std::pair<JobPtr, model::Pending>> heads;
    for (const JobPtr& job : waiting_) {
      const bool tellsNothing = keepsTurn_.contains(job.get());
      const auto head = heads.find(job->spec.queue);
      if (head != heads.end()) {
        if (!tellsNothing) explain(job, explainTurn(*head->second.first, head->second.second));
        continue;
      }
      const auto pending = tryPlace(job);
      if (!pending) continue;
      if (!tellsNothing) explain(job, *pending);
      // A job that no change of other jobs can help must not hold up everyone behind it.
      const bool waitsForRoom = pending->reason == model::PendingReason::kWaitingForCapacity ||
                                pending->reason == model::PendingReason::kWaitingForTopology;
      if (waitsForRoom) heads.emplace(job->spec.queue, std::pair{job, *pending});
    }
  }

  // Plans the whole gang and takes its room; what it waits for when there is none.
  std::optional<model::Pending> tryPlace(const JobPtr& job) {
    PlaceRequest request = wholeGang(*job);
    auto placed = placeAvoiding(request, ledger_);
    if (const auto* misfit = std::get_if<Misfit>(&placed)) {
      return explainMisfit(*job, *misfit, ledger_, input_.snapshot);
    }
    auto& placement = std::get<Placement>(placed);
    take(*job, placement.assignments);
    if (keepsTurn_.contains(job.get())) return std::nullopt;
    StatusNews news;
    news.where = describePlaces(placement.assignments, ledger_, input_.snapshot.topology);
    derive(job,
           propose(*job, model::ProposalKind::kStart, std::move(placement.assignments), {}, {}, author()),
           news)
        .deferrable = false;
    return std::nullopt;
  }

  static PlaceRequest wholeGang(const Job& job) {
    PlaceRequest request;
    request.job = &job;
    for (const model::Role& role : job.spec.roles) {
      std::vector<int> indices(static_cast<std::size_t>(job.spec.startReplicas(role)));
      std::iota(indices.begin(), indices.end(), 0);
      if (!indices.empty()) request.groups.push_back({&role, model::IndexSet(std::move(indices))});
    }
    return request;
  }

  void explain(const JobPtr& job, const model::Pending& pending) {
    StatusNews news;
    news.pending = pending;
    std::vector<JobEvent> events;
    const bool sameReason = job->status.pending && job->status.pending->reason == pending.reason;
    if (!sameReason) events.push_back({false, std::string(model::toString(pending.reason)), pending.message});
    write(job, job->status.gang, std::move(events), news);
    plan_.decisions.back().deferrable = sameReason;
  }

  // --- leftovers
  // ----------------------------------------------------------------------------------------------------

  // Gated pods can never run once their job is gone, and the garbage collector may be slow or absent.
  void sweepOrphans() {
    std::unordered_set<std::string_view> alive;
    for (const JobPtr& job : input_.snapshot.jobs) alive.insert(job->uid.str());
    for (const auto& [uid, pods] : podsByJob_) {
      if (alive.contains(uid.str())) continue;
      for (const auto& pod : pods) {
        if (pod->gangGated && !pod->terminating) plan_.orphans.push_back({pod->key, pod->uid});
      }
    }
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

  const JobFeedback& feedbackOf(const Job& job) const {
    static const JobFeedback kNone;
    const auto found = input_.feedback.find(job.key);
    return found == input_.feedback.end() ? kNone : found->second;
  }

  const JobPods& podsOf(const Job& job) const {
    static const JobPods kNone;
    const auto found = podsByJob_.find(job.uid);
    return found == podsByJob_.end() ? kNone : found->second;
  }

  std::string placesText(const GangRecord& record) const {
    const bool changes = record.proposal && !record.proposal->add.empty();
    if (changes) return describePlaces(record.proposal->add, ledger_, input_.snapshot.topology);
    if (record.placed) return describePlaces(record.placed->assignments, ledger_, input_.snapshot.topology);
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
    if (record.placed) return placedMembers(job, *record.placed, podsOf(job));
    if (record.proposal) return addedMembers(job, *record.proposal, podsOf(job));
    return {};
  }

  JobDecision& derive(const JobPtr& job, GangRecord record, const StatusNews& news) {
    JobDecision& decision = add(job);
    const std::vector<Member> members = membersOf(*job, record);
    decision.status = deriveStatus(*job, std::move(record), members, news, input_.snapshot.now);
    decision.deferrable = decision.status->phase == job->status.phase;
    return decision;
  }

  void write(const JobPtr& job, GangRecord record, std::vector<JobEvent> events, const StatusNews& news) {
    derive(job, std::move(record), news).events = std::move(events);
  }

  const CycleInput& input_;
  Ledger ledger_;
  std::unordered_map<model::Uid, JobPods> podsByJob_;
  std::vector<JobPtr> waiting_;
  std::set<const Job*> keepsTurn_;
  Plan plan_;
};

}  // namespace

Plan cycle(const CycleInput& input) { return Cycle(input).run(); }

}  // namespace trainyard::core
