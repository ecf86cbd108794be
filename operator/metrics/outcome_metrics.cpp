#include "operator/metrics/outcome_metrics.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/lifecycle/failure_class.h"
#include "model/conditions.h"

namespace trainyard::operator_ {
namespace {

// True if the job ended because it would have failed the same way again, not because it hit its deadline.
bool endedForGood(const model::LastFailure& last) {
  return last.action == "Failed" && last.failure != model::FailureClass::kDeadlineExceeded &&
         core::defaultReaction(last.failure).action == model::FailureAction::kEndNow;
}

bool isTrue(const model::JobStatus& status, std::string_view type) {
  return std::any_of(status.conditions.begin(), status.conditions.end(), [&](const auto& each) {
    return each.type == type && each.status == model::ConditionStatus::kTrue;
  });
}

}  // namespace

void OutcomeMetrics::note(const model::JobStatus& before, const model::JobStatus& after, base::WallTime now) {
  noteStop(before, after);
  noteFailure(before, after, now);
  noteEnd(before, after);
}

void OutcomeMetrics::noteEnd(const model::JobStatus& before, const model::JobStatus& after) {
  const bool ended = after.phase == "Succeeded" || after.phase == "Failed";
  if (!ended || before.phase == after.phase) return;
  registry_
      .counter("trainyard_jobs_finished_total", "TrainingJobs that ended, by outcome.",
               {{"outcome", after.phase}})
      .increment();
}

void OutcomeMetrics::noteStop(const model::JobStatus& before, const model::JobStatus& after) {
  const auto count = [this](const char* cause) {
    registry_
        .counter("trainyard_gang_stops_total",
                 "Gangs that were stopped before their end, by cause: Preempted (waits again), Moved "
                 "(restarts elsewhere at once), Suspended, Failed (restarts).",
                 {{"cause", cause}})
        .increment();
  };
  const bool isPreempted = after.preemptions.count > before.preemptions.count;
  const bool moves = before.gang.proposal && before.gang.proposal->movesFor;
  if (isPreempted) return count(moves ? "Moved" : "Preempted");
  if (before.gang.placed && isTrue(after, model::conditions::kSuspended) &&
      !isTrue(before, model::conditions::kSuspended)) {
    return count("Suspended");
  }
  std::size_t restarts = 0;
  for (const auto& [failure, times] : after.restarts.byClass) restarts += static_cast<std::size_t>(times);
  for (const auto& [failure, times] : before.restarts.byClass) restarts -= static_cast<std::size_t>(times);
  if (restarts > 0) count("Failed");
}

// The cost of the failed start is an upper bound: a checkpoint may have kept some of it.
void OutcomeMetrics::noteFailure(const model::JobStatus& before, const model::JobStatus& after,
                                 base::WallTime now) {
  if (!after.lastFailure || after.lastFailure == before.lastFailure) return;
  const std::string failure(model::toString(after.lastFailure->failure));
  registry_
      .counter("trainyard_failures_total", "Gangs that failed, by class and action.",
               {{"class", failure}, {"action", after.lastFailure->action}})
      .increment();
  const auto runs = std::find_if(before.conditions.begin(), before.conditions.end(), [](const auto& each) {
    return each.type == model::conditions::kRunning && each.status == model::ConditionStatus::kTrue;
  });
  if (runs == before.conditions.end()) return;
  const std::chrono::duration<double> ran =
      std::max(now - runs->lastTransition, base::WallTime::duration::zero());
  registry_
      .counter("trainyard_failed_gpu_seconds_total",
               "GPU time of the runs that failed, by class: lost except for what a checkpoint kept.",
               {{"class", failure}})
      .increment(ran.count() * static_cast<double>(before.gpus));
  if (!endedForGood(*after.lastFailure)) return;
  registry_
      .counter("trainyard_saved_gpu_seconds_total",
               "GPU time saved by not repeating runs that would have failed again, by class: as much as the "
               "failed run used.",
               {{"class", failure}})
      .increment(ran.count() * static_cast<double>(before.gpus));
}

}  // namespace trainyard::operator_
