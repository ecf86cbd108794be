#pragma once

#include <string>
#include <vector>

#include "cli/convert/notes.h"

namespace trainyard::cli {

// What the API server or the operator would refuse of a TrainingJob, or could do only in part: by the
// resource definition and the rules of admission that this program was built with. Without a cluster; a name
// or a namespace that is still to be given is no fault.
[[nodiscard]] std::vector<Note> checkConverted(const std::string& json);

}  // namespace trainyard::cli
