#pragma once

#include <string>

#include "cli/convert/value.h"

namespace trainyard::cli {

// Returns why an object with pods, or with rules for another scheduler, is no object that `adopt` changes,
// and what to do. Empty for all other objects, such as a ConfigMap.
[[nodiscard]] std::string whyNotAdopted(const Json& object);

// Returns the object that makes this one, "Job train": that one is to be adopted. Empty if users made it.
[[nodiscard]] std::string makerOf(const Json& object);

}  // namespace trainyard::cli
