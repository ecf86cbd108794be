#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "base/error.h"

namespace trainyard::base {

// Returns the whole content of the file. kInvalid has its name and the cause, as in "policy.yaml: cannot be
// read (Is a directory)"; a file of more than `maxBytes` is kInvalid, too.
[[nodiscard]] Result<std::string> readFile(const std::string& path,
                                           std::size_t maxBytes = std::numeric_limits<std::size_t>::max());

}  // namespace trainyard::base
