#include "core/cycle/pending_report.h"

#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/plain_text.h"
#include "core/queues/eligibility.h"

namespace trainyard::core {
namespace {

// Returns true if the job waits for capacity that others hold, and so may have to preempt them.
bool waitsForCapacity(const GangWait& wait) {
  if (wait.behindStarting || wait.pending == nullptr) return false;
  return model::traitsOf(wait.pending->reason).waitsForCapacity;
}

bool sameButSince(const model::Pending& a, const model::Pending& b) {
  const auto allBut = [](const model::Pending& each) {
    return std::tie(each.reason, each.delay, each.reservedSince, each.nextRelaxation, each.estimatedStart,
                    each.message, each.shortfall, each.blockedBy);
  };
  return allBut(a) == allBut(b);
}

}  // namespace

void PendingReport::report(const GangWait& wait) {
  in_.plan.capacityWanted = in_.plan.capacityWanted || waitsForCapacity(wait);
  if (wait.silent || isReported(wait) || timedOut(wait)) return;
  if (wait.behindStarting) return explainStarting(wait);
  explain(wait);
}

void PendingReport::explain(const GangWait& wait, Urgency defaultUrgency) {
  if (!base::isPlain(wait.pending->message)) {
    GangWait plain = wait;
    auto pending = std::make_shared<model::Pending>(*wait.pending);
    pending->message = base::plainText(pending->message, false);
    plain.pending = std::move(pending);
    return explain(plain, defaultUrgency);
  }
  JobNotes::Note& note = in_.cache.notes().of(wait.position);
  if (note.reported == wait.pending) return;
  const auto& job = wait.job;
  const model::Pending& pending = *wait.pending;
  const bool sameMessage = job->status.pending && sameButSince(*job->status.pending, pending);
  if (sameMessage && note.reported) {
    note.reported = wait.pending;
    return;
  }
  StatusUpdate update;
  update.pending = pending;
  std::vector<JobEvent> events;
  const bool sameReason = job->status.pending && job->status.pending->reason == pending.reason;
  if (!sameReason) events.push_back({false, std::string(model::toString(pending.reason)), pending.message});
  JobDecision& decision = decisions_.write(job, job->status.gang, std::move(events), update);
  // The next cycle relies on the reservation that is written.
  const bool isReserved = job->status.pending && job->status.pending->reservedSince != pending.reservedSince;
  // In a busy cluster reasons change in every cycle, so a new reason alone is not urgent.
  decision.urgency = job->status.pending && !isReserved ? Urgency::kSpare : defaultUrgency;
  if (sameMessage && *decision.status == job->status) note.reported = wait.pending;
}

// Returns true if the job's status reports the reason already and the job has no scheduling timeout.
bool PendingReport::isReported(const GangWait& wait) const {
  const JobNotes::Note& note = in_.cache.notes().of(wait.position);
  return note.reported != nullptr && note.reported == wait.pending && note.pendingFacts &&
         !note.pendingFacts->timesOut;
}

// The gangs that are already starting are as many as the API server should handle at once.
void PendingReport::explainStarting(const GangWait& wait) {
  const base::WallTime patience = wait.job->created + in_.input.settings.startingPatience;
  if (in_.input.snapshot.now < patience && !wait.job->status.pending) return in_.wakeAt(patience);
  explain(wait, Urgency::kSpare);
}

// Ends the job once it has been pending for spec.scheduling.timeoutSeconds.
bool PendingReport::timedOut(const GangWait& wait) {
  const std::chrono::seconds timeout = wait.job->spec.schedulingTimeout;
  if (timeout.count() == 0) return false;
  const base::WallTime end = waitingSince(*wait.job, in_.input.snapshot.now) + timeout;
  if (in_.input.snapshot.now < end) {
    in_.wakeAt(end);
    return false;
  }
  StatusUpdate update;
  update.verdict = {Outcome::kFailed, "SchedulingTimeout",
                    fmt::format("was not placed within {} s: {}", timeout.count(), wait.pending->message)};
  JobDecision& decision = decisions_.derive(wait.job, wait.job->status.gang, update);
  decision.urgency = Urgency::kNow;
  decision.events.push_back({true, update.verdict.reason, update.verdict.message});
  return true;
}

}  // namespace trainyard::core
