#include "core/cycle/cycle_context.h"

namespace trainyard::core {

CycleContext::CycleContext(const CycleInput& of, CycleCache& previous)
    : input(of),
      settings(of.settings),
      cache(previous),
      ledger(previous.ledger()),
      queues(of.snapshot, previous.queues()) {
  settings.maxGrace = of.snapshot.policy.preemption.maxGrace;
  settings.unreachableGrace = of.snapshot.policy.unreachableGrace;
}

const JobFeedback& CycleContext::feedbackOf(const model::ObjectKey& job) const {
  const auto found = input.feedback.find(job);
  return found == input.feedback.end() ? input.otherFeedback : found->second;
}

GangContext CycleContext::gangContext(const JobFeedback& feedback) const {
  return {.now = input.snapshot.now,
          .settings = &settings,
          .ledger = &ledger,
          .feedback = &feedback,
          .jobs = &input.snapshot.jobs,
          .pods = &input.snapshot.pods,
          .others = &input.feedback};
}

const LifeSign* CycleContext::lifeOf(const model::Job& job) const {
  if (input.life.empty()) return nullptr;
  const auto found = input.life.find(job.key);
  return found == input.life.end() ? nullptr : &found->second;
}

const std::shared_ptr<const model::Job>* CycleContext::find(const model::ObjectKey& job) const {
  const auto& jobs = input.snapshot.jobs;
  const std::size_t at = jobs.positionOf(job);
  return at == jobs.size() ? nullptr : &jobs[at];
}

void CycleContext::settle(std::size_t position, std::optional<base::WallTime> until) {
  JobNotes::Note& note = cache.notes().of(position);
  note.settled = true;
  note.settledUntil = until;
  wakeAt(until);
}

void CycleContext::endHoldings(const std::shared_ptr<const model::Job>& job) {
  ended.insert(job.get());
  queues.endHoldings(*job, podsOf(*job));
}

}  // namespace trainyard::core
