#include "core/order/run_facts.h"

namespace trainyard::core {
namespace {

bool isLeaving(const model::Job& job) {
  const auto& proposal = job.status.gang.proposal;
  return job.deleting || job.finished() || job.spec.run.suspend ||
         (proposal && (proposal->phase == model::ProposalPhase::kAborting ||
                       (proposal->kind == model::ProposalKind::kRestart && proposal->add.empty())));
}

// Maps max() to nullopt: no real time is that late, so max() marks a status without the time.
std::optional<base::WallTime> timeOf(base::WallTime (*since)(const model::Job&, base::WallTime),
                                     const model::Job& job) {
  const base::WallTime found = since(job, base::WallTime::max());
  return found == base::WallTime::max() ? std::nullopt : std::optional(found);
}

}  // namespace

RunFacts runFactsOf(const model::Job& job) {
  return {.placed = job.status.gang.placed.has_value(),
          .leaving = isLeaving(job),
          .resumed = job.spec.checkpoint && job.status.preemptions.count > 0,
          .placedSince = timeOf(&placedSince, job),
          .startedSince = timeOf(&startedSince, job),
          .estimate = job.spec.estimatedDuration,
          .progress = progressClockOf(job)};
}

}  // namespace trainyard::core
