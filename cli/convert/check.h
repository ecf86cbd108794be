#pragma once

#include <string>
#include <vector>

#include "cli/convert/notes.h"

namespace trainyard::cli {

// Returns what the API server or the operator would refuse in a TrainingJob, or could do only in
// part. Uses the CRD and the admission rules of this build, without a cluster. A name or a
// namespace that is still missing is not an error.
[[nodiscard]] std::vector<Note> checkConverted(const std::string& json);

}  // namespace trainyard::cli
