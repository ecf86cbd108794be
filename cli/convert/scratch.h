#pragma once

#include "cli/convert/draft.h"

// Only converters include this file.
namespace trainyard::cli {

// Notes the volumes of a role that its containers write to. The other system restarts the
// containers in their pods; a new pod begins with empty volumes. Volumes in memory, under /dev,
// /tmp or /var, or filled by an init container are left out.
void noteScratch(const RoleDraft& role, JobDraft& draft);

}  // namespace trainyard::cli
