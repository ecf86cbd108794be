#pragma once

#include <string>

#include "model/job.h"

namespace trainyard::core {

// Sets the condition Resizing and status.resize: the step, its deadline, the number of completed resizes,
// and the pauses of resizes that restart. Assumes that status.gang is the record to be written. `held` is
// the reason why a resize has to wait, empty if none does. Does nothing for jobs that never change their
// size, nor for Gangs whose pods all have places.
void setResizeStatus(const model::Job& job, const std::string& held, base::WallTime now,
                     model::JobStatus& status);

}  // namespace trainyard::core
