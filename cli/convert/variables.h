#pragma once

#include "cli/convert/draft.h"

// Only converters include this file.
namespace trainyard::cli {

// Writes the role's variables into the containers of its template. A variable of the template
// takes precedence, unless the other system sets its own after the template's
// (RoleDraft::overwritten): then the template's variable is dropped.
void writeVariables(RoleDraft& role, JobDraft& draft);

}  // namespace trainyard::cli
