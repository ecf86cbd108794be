#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::cli {

// Returns a POSIX tar archive (ustar) of plain files, each {name, contents}, readable by their owner. Names
// of more than a hundred bytes are cut. `seconds`: their modification time, since 1970.
[[nodiscard]] std::string tarOf(const std::vector<std::pair<std::string, std::string>>& files,
                                std::int64_t seconds);

}  // namespace trainyard::cli
