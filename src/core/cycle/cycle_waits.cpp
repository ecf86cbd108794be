#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/plain_text.h"
#include "core/cycle/cycle_phases.h"
#include "core/queues/eligibility.h"

namespace trainyard::core {

void Cycle::explain(const GangWait& wait, Urgency ofNews) {
  if (!base::isPlain(wait.pending->message)) {
    GangWait plain = wait;
    auto pending = std::make_shared<model::Pending>(*wait.pending);
    pending->message = base::plainText(pending->message, false);
    plain.pending = std::move(pending);
    return explain(plain, ofNews);
  }
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
  // The next cycle relies on the reservation that is written.
  const bool isReserved = job->status.pending && job->status.pending->reservedSince != pending.reservedSince;
  // In a busy cluster reasons change in every cycle, so a new reason alone is not urgent.
  decision.urgency = job->status.pending && !isReserved ? Urgency::kSpare : ofNews;
  if (sameWords && *decision.status == job->status) note.told = wait.pending;
}

bool Cycle::sameButSince(const model::Pending& a, const model::Pending& b) {
  const auto allBut = [](const model::Pending& each) {
    return std::tie(each.reason, each.delay, each.reservedSince, each.nextRelaxation, each.estimatedStart,
                    each.message, each.shortfall, each.blockedBy);
  };
  return allBut(a) == allBut(b);
}

// Returns true if the job's status reports the reason already and the job has no scheduling timeout.
bool Cycle::staysTold(const GangWait& wait) const {
  const JobNotes::Note& note = cache_.notes().of(wait.position);
  return note.told != nullptr && note.told == wait.pending && note.asks && !note.asks->timesOut;
}

// The gangs that are already starting are as many as the API server should handle at once.
void Cycle::explainStarting(const GangWait& wait) {
  const base::WallTime patience = wait.job->created + input_.settings.startingPatience;
  if (input_.snapshot.now < patience && !wait.job->status.pending) return wakeAt(patience);
  explain(wait, Urgency::kSpare);
}

// Ends the job once it has been pending for spec.scheduling.timeoutSeconds.
bool Cycle::timedOut(const GangWait& wait) {
  const std::chrono::seconds timeout = wait.job->spec.schedulingTimeout;
  if (timeout.count() == 0) return false;
  const base::WallTime end = waitingSince(*wait.job, input_.snapshot.now) + timeout;
  if (input_.snapshot.now < end) {
    wakeAt(end);
    return false;
  }
  StatusNews news;
  news.verdict = {Outcome::kFailed, "SchedulingTimeout",
                  fmt::format("was not placed within {} s: {}", timeout.count(), wait.pending->message)};
  JobDecision& decision = derive(wait.job, wait.job->status.gang, news);
  decision.urgency = Urgency::kNow;
  decision.events.push_back({true, news.verdict.reason, news.verdict.message});
  return true;
}

}  // namespace trainyard::core
