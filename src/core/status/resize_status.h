#pragma once

#include <string>

#include "model/job.h"

namespace trainyard::core {

// What is told of the job's sizes: condition Resizing, and of status.resize the step, its deadline, how many
// resizes came true, and how long training stood still for those that restart. Assumes that status.gang is
// the record to be written; `held`: why another size than the present one has to wait, empty where nothing
// does. Says nothing of jobs that never change their size.
void tellResize(const model::Job& job, const std::string& held, base::WallTime now, model::JobStatus& status);

}  // namespace trainyard::core
