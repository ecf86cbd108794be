#include "core/order/queue_position_facts.h"

#include "core/order/job_times.h"

namespace trainyard::core {

QueuePositionFacts queuePositionFactsOf(const model::Job& job, base::WallTime now, RunTimeModel& runs) {
  return {.submitted = job.created,
          .gpus = runs.gpusOf(job),
          .ran = ranSoFar(job, now),
          .remaining = estimatedRemaining(job, now),
          .question = runs.questionOf(job)};
}

}  // namespace trainyard::core
