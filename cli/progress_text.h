#pragma once

#include <string>

#include "base/time.h"
#include "model/job.h"

namespace trainyard::cli {

// Returns the training progress that the job reported, in a few lines; empty if it reported none. The
// remaining time is printed only for running jobs.
[[nodiscard]] std::string progressText(const model::Job& job, base::WallTime now);

}  // namespace trainyard::cli
