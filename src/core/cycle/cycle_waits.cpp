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
  // The next cycle counts on the reservation that is written.
  const bool isReserved = job->status.pending && job->status.pending->reservedSince != pending.reservedSince;
  // Where much comes and goes, reasons change in every cycle: another reason is no urgent news.
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

// Its status says so already, and it waits for as long as it takes.
bool Cycle::staysTold(const GangWait& wait) const {
  const JobNotes::Note& note = cache_.notes().of(wait.position);
  return note.told != nullptr && note.told == wait.pending && note.asks && !note.asks->timesOut;
}

// Those before it are enough for the API server at the moment.
void Cycle::explainStarting(const GangWait& wait) {
  const base::WallTime patience = wait.job->created + input_.settings.startingPatience;
  if (input_.snapshot.now < patience && !wait.job->status.pending) return wakeAt(patience);
  explain(wait, Urgency::kSpare);
}

// spec.scheduling.timeoutSeconds, counted while it waits.
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
                  fmt::format("found no place within {} s: {}", timeout.count(), wait.pending->message)};
  JobDecision& decision = derive(wait.job, wait.job->status.gang, news);
  decision.urgency = Urgency::kNow;
  decision.events.push_back({true, news.verdict.reason, news.verdict.message});
  return true;
}

}  // namespace trainyard::core
