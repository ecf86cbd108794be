#pragma once

#include "cli/convert/draft.h"

// Included by the converters alone.
namespace trainyard::cli {

// Writes the role's variables into the containers of its template. A variable of the template counts before
// it, unless the other system sets its own after the template's (RoleDraft::overwritten): that one is left
// out.
void writeVariables(RoleDraft& role, JobDraft& draft);

}  // namespace trainyard::cli
