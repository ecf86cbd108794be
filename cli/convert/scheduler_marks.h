#pragma once

#include <string>

#include "cli/convert/draft.h"

// Included by the converters alone.
namespace trainyard::cli {

// Labels and annotations by which a job or a pod asks something of another system's scheduler: carried over,
// or named and left out. `metadata` has them, `said` names it in notes.
void takeSchedulerMarks(Json& metadata, const std::string& said, JobDraft& draft);

// Resources that only Volcano's scheduler gives to a pod.
void takeVolcanoResources(const RoleDraft& role, JobDraft& draft);

}  // namespace trainyard::cli
