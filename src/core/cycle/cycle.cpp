#include "core/cycle/cycle.h"

#include <utility>

#include "core/admission/admission.h"
#include "core/cycle/admission_step.h"
#include "core/cycle/claims_under_way.h"
#include "core/cycle/cycle_context.h"
#include "core/cycle/job_decisions.h"
#include "core/cycle/pending_report.h"
#include "core/cycle/placed_step.h"
#include "core/cycle/pod_removal.h"
#include "core/cycle/proposal_step.h"
#include "core/cycle/size_step.h"
#include "core/cycle/start_step.h"
#include "core/gang/gang_proposals.h"
#include "core/gang/orphans.h"
#include "core/queues/holdings.h"
#include "core/queues/namespaces.h"
#include "model/managed_by.h"

namespace trainyard::core {
namespace {

// Returns the members of a running or starting gang if its record keeps all of them; else null.
const std::vector<model::Assignment>* keptMembers(const model::GangRecord& gang) {
  if (!gang.proposal) return gang.placed ? &gang.placed->assignments : nullptr;
  return gang.placed || !gang.proposal->remove.empty() ? nullptr : &gang.proposal->add;
}

// One cycle() under way. Each step decides for one kind of jobs, and is in a file of its own.
class Cycle {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;

  explicit Cycle(CycleContext& context)
      : in_(context),
        claims_(context),
        decisions_(context),
        removal_(context, decisions_),
        sizes_(context, decisions_, claims_),
        admission_(context, decisions_),
        proposals_(context, decisions_, claims_, removal_),
        placed_(context, decisions_, claims_, removal_, sizes_) {}

  void run();

 private:
  void decideAll();
  [[nodiscard]] bool isSettled(const JobNotes::Note& note);
  void decide(const CurrentJob& current);
  void chargeLeaving(const model::Job& job);
  [[nodiscard]] std::map<std::string, std::int64_t> startingMembers() const;
  void placePending();

  CycleContext& in_;
  ClaimsUnderWay claims_;
  JobDecisions decisions_;
  PodRemoval removal_;
  SizeStep sizes_;
  AdmissionStep admission_;
  ProposalStep proposals_;
  PlacedStep placed_;
};

void Cycle::run() {
  decideAll();
  placePending();
  in_.plan.orphans = sweepOrphans(in_.input.snapshot, in_.settings);
  decisions_.dropEmpty();
}

void Cycle::decideAll() {
  const model::SharedList<model::Job>& jobs = in_.input.snapshot.jobs;
  // Both lists are sorted by key.
  auto feedbackAt = in_.input.feedback.begin();
  for (std::size_t position = 0; position < jobs.size(); ++position) {
    const JobPtr& job = jobs[position];
    // A settled gang may still have to give up capacity for a claim, or have a life sign to record.
    const bool settled = isSettled(in_.cache.notes().of(position));
    const bool called = claims_.preemptorOf(job->key) != nullptr || in_.lifeOf(*job) != nullptr;
    if (settled && !called) continue;
    const JobFeedback* feedback = &in_.input.otherFeedback;
    for (; feedbackAt != in_.input.feedback.end(); ++feedbackAt) {
      const auto order = feedbackAt->first <=> job->key;
      if (order == 0) feedback = &feedbackAt->second;
      if (order >= 0) break;
    }
    decide({job, position, *feedback});
  }
}

bool Cycle::isSettled(const JobNotes::Note& note) {
  if (!note.settled || !note.settledUntil) return note.settled;
  in_.wakeAt(note.settledUntil);
  return in_.input.snapshot.now < *note.settledUntil;
}

void Cycle::decide(const CurrentJob& current) {
  const JobPtr& job = current.job;
  // A job with `waits` set has no pods.
  const bool waits = in_.cache.notes().of(current.position).waits;
  if (!waits) chargeLeaving(*job);
  if (current.feedback.busy) return admission_.keepQueuePosition(current);
  if (waits && (job->owner != nullptr || !admitTemplate(current.feedback))) return admission_.wait(job);
  const JobPods& pods = in_.podsOf(*job);
  if (model::managedByOther(*job) || isStatusDeferred(*job, pods, current.feedback)) return;
  if (const auto* preemptor = claims_.preemptorOfChanging(*job)) return placed_.evict(job, *preemptor);
  if (job->status.gang.proposal) {
    proposals_.step(current);
    const auto& decided = decisions_.add(job).status;
    return admission_.rest(job, decided ? decided->gang : job->status.gang);
  }
  if (job->deleting) return removal_.drainDeleted(job);
  if (job->finished()) return removal_.cleanUpFinished(current);
  if (job->status.gang.placed) return placed_.watch(current);
  if (const auto strays = strayPods(*job, pods); !strays.empty()) return removal_.awaitStrays(job, strays);
  if (job->spec.run.suspend) return admission_.holdSuspended(current);
  admission_.admitOrRefuse(current);
}

// Pods that no record keeps hold their capacity until they are gone, and a queue is charged for them. That is
// the queue of the gang's charge, else the requested queue if the job may use it. If the record keeps all its
// members, that many pods are the gang's own and do not count as leaving.
void Cycle::chargeLeaving(const model::Job& job) {
  if (model::managedByOther(job)) return;
  const JobPods& pods = in_.podsOf(job);
  if (pods.empty()) return;
  const model::GangRecord& gang = job.status.gang;
  const bool atPeace = !job.finished() && !job.deleting && !job.spec.run.suspend;
  const auto* kept = keptMembers(gang);
  if (atPeace && kept != nullptr && static_cast<std::int64_t>(pods.size()) <= memberCount(*kept)) return;
  QueueTree& queues = in_.queues;
  if (!gang.charge && !queueOpenTo(queues.requestedQueueOf(job), job.key.ns, in_.input.snapshot)) return;
  queues.chargeLeaving(queues.queueOf(job), leavingOf(queues.capacity(), job, pods));
}

// Returns the members from reserved to bound, by namespace.
std::map<std::string, std::int64_t> Cycle::startingMembers() const {
  std::map<std::string, std::int64_t> starting;
  for (const JobPtr& job : in_.cache.notes().proposing()) {
    const model::Proposal& proposal = *job->status.gang.proposal;
    const JobPods& pods = in_.podsOf(*job);
    const bool boundAlready = job->recordUnwritten && !pods.empty() && pods.front()->bound();
    if (proposal.phase == model::ProposalPhase::kReserved && !boundAlready)
      starting[job->key.ns] += memberCount(proposal.add);
  }
  return starting;
}

void Cycle::placePending() {
  admission_.planNext();
  claims_.count();
  Schedule schedule = core::schedule({.snapshot = in_.input.snapshot,
                                      .ledger = in_.ledger,
                                      .domains = in_.cache.domains(),
                                      .queues = in_.queues,
                                      .cache = in_.cache.schedule(),
                                      .reservedSince = in_.cache.reservedSince(),
                                      .waiting = admission_.takeWaiting(),
                                      .changing = in_.changing,
                                      .startingMembers = startingMembers(),
                                      .maxStartingMembers = in_.input.settings.startingMembers});
  StartStep starts(in_, decisions_, sizes_);
  const std::set<model::ObjectKey> changed = starts.carryOut(std::move(schedule.changes));
  PendingReport report(in_, decisions_);
  for (const GangWait& wait : schedule.waits) report.report(wait);
  for (const GangYield& yield : schedule.yields) starts.yieldClaim(yield);
  sizes_.scale(schedule, changed);
  in_.plan.queues = std::move(schedule.queues);
  in_.plan.sizes = schedule.sizes;
  in_.plan.fairnessLossPermille = schedule.fairnessLossPermille;
  in_.wakeAt(schedule.wakeAt);
}

}  // namespace

Plan cycle(const CycleInput& input, CycleCache& cache) {
  CycleContext context(input, cache);
  cache.begin(input.snapshot);
  Cycle(context).run();
  cache.end(input.snapshot.jobs.size());
  return std::move(context.plan);
}

Plan cycle(const CycleInput& input) {
  CycleCache cache;
  return cycle(input, cache);
}

}  // namespace trainyard::core
