#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "base/error.h"

namespace trainyard::base {

// All that is in the file. kInvalid names it and says why, as "policy.yaml: cannot be read (Is a directory)";
// more than `mostBytes` is refused, too.
[[nodiscard]] Result<std::string> readFile(const std::string& path,
                                           std::size_t mostBytes = std::numeric_limits<std::size_t>::max());

}  // namespace trainyard::base
