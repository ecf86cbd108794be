#pragma once

#include <string>
#include <vector>

#include "model/job.h"

namespace trainyard::codec {

// Fields of the spec that ask for what is not built yet, and will have no effect. Values that ask for nothing
// (the schema's defaults among them) are not named. Whoever builds a feature takes its line out here.
[[nodiscard]] std::vector<std::string> findUnsupported(const model::JobSpec& decoded);

}  // namespace trainyard::codec
