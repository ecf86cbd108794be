#pragma once

#include <string>

#include "base/time.h"
#include "model/job.h"

namespace trainyard::cli {

// What the job says of its training, in a few lines; empty where it says nothing. How long it still takes is
// told of jobs that run.
[[nodiscard]] std::string progressText(const model::Job& job, base::WallTime now);

}  // namespace trainyard::cli
