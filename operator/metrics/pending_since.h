#pragma once

#include "base/time.h"
#include "model/job.h"

namespace trainyard::operator_ {

// Start of the current wait of a pending job: a job that lost its placement is pending again from then on.
[[nodiscard]] base::WallTime pendingSince(const model::Job& job);

// In seconds since 1970, as timestamps are exported.
[[nodiscard]] double sinceEpoch(base::WallTime time);

}  // namespace trainyard::operator_
