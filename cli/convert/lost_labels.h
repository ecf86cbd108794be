#pragma once

#include <string>
#include <vector>

#include "cli/convert/system_facts.h"

namespace trainyard::cli {

// Labels that the object names, by selectors, as targets of a monitor and the like, that pods of `facts` have
// and members of the converted job have not, each with what they have in its place.
[[nodiscard]] std::vector<std::string> lostLabels(const std::string& json, const SystemFacts& facts);

}  // namespace trainyard::cli
