#pragma once

#include "core/ledger/ledger.h"
#include "core/order/run_time_model.h"
#include "core/place/place.h"
#include "model/job.h"

namespace trainyard::core {

// What a job that fits nowhere waits for, and who is in its way: the jobs that hold most of the scarce
// resource in the domain where it came closest, at most three. `since` is left for the writer of the status.
[[nodiscard]] model::Pending explainFailure(const PlacementFailure& failure, const Ledger& ledger,
                                            base::WallTime now, RunTimeModel& runs);

// Names these jobs, and until when they run, in the message and in `blockedBy`.
void addBlockers(const Blockers& blockers, const Ledger& ledger, base::WallTime now, RunTimeModel& runs,
                 model::Pending& pending);

// For a job that is not tried because `head` of its queue comes first: "behind vision/bert, which needs …".
[[nodiscard]] model::Pending explainTurn(const model::Job& head, const model::Pending& headPending);

}  // namespace trainyard::core
