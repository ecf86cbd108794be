#pragma once

#include <string>
#include <vector>

#include "cli/convert/system_facts.h"

namespace trainyard::cli {

// Returns a line, with the replacement, for each label that the object's selectors or monitor targets name.
// Only labels count that pods of `facts` have and members of the converted job lack.
[[nodiscard]] std::vector<std::string> lostLabels(const std::string& json, const SystemFacts& facts);

}  // namespace trainyard::cli
