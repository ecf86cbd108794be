#pragma once

#include "cli/convert/draft.h"

// Included by the converters alone.
namespace trainyard::cli {

// For a role whose containers the other system starts again in their pods: notes the volumes that a container
// writes to, and that a new pod begins without. (Not those in memory, under /dev/shm or /tmp, or that an init
// container fills.)
void noteScratch(const RoleDraft& role, JobDraft& draft);

}  // namespace trainyard::cli
