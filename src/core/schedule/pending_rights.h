#pragma once

#include "core/queues/eligibility.h"
#include "core/schedule/equivalence_key.h"
#include "core/schedule/pending_order.h"
#include "core/schedule/schedule_context.h"
#include "core/timeline/backfill.h"

namespace trainyard::core {

// What a pending job asks for, and what it is entitled to.

// The demand of the job at the size of `sized`, with its GPU types where they are known. They are left out if
// a limit on GPUs of any type is exceeded: then every gang that holds GPUs may be in the way.
[[nodiscard]] Amounts typedDemandOf(ScheduleContext& in, const PendingJob& pendingJob,
                                    const model::Job& sized);
// The demand that has to be met for a start: that of the minimum of an elastic gang.
[[nodiscard]] Amounts startDemandOf(const ScheduleContext& in, const PendingJob& pendingJob);
// Whether the queue is guaranteed what the job asks for.
[[nodiscard]] bool isEntitled(ScheduleContext& in, const PendingJob& pendingJob);
[[nodiscard]] Preemptor preemptorOf(ScheduleContext& in, const PendingJob& pendingJob);
// The job as it asks for capacity that is reserved for `holder`, of the queue `holders`.
[[nodiscard]] BackfillRequest backfillRequestOf(ScheduleContext& in, const PendingJob& pendingJob,
                                                QueueTree::Index holders, const model::Job& holder);
[[nodiscard]] EquivalenceKey equivalenceKeyOf(const PendingJob& pendingJob, const GangShape& shape);

}  // namespace trainyard::core
