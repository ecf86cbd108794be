#pragma once

#include "core/ledger/ledger.h"
#include "core/order/run_time_model.h"
#include "core/place/place.h"
#include "model/job.h"

namespace trainyard::core {

// Explains why no placement exists, and names the blocking jobs: at most three, which hold most of the scarce
// resource in the closest domain. The writer of the status fills `since`.
[[nodiscard]] model::Pending explainFailure(const PlacementFailure& failure, const Ledger& ledger,
                                            base::WallTime now, RunTimeModel& runs);

// Adds these jobs, and their expected ends, to the message and to `blockedBy`.
void addBlockers(const Blockers& blockers, const Ledger& ledger, base::WallTime now, RunTimeModel& runs,
                 model::Pending& pending);

// For a job that is skipped because `head` of its queue comes first: "behind vision/bert, which needs …".
[[nodiscard]] model::Pending explainPosition(const model::Job& head, const model::Pending& headPending);

}  // namespace trainyard::core
