#pragma once

#include <string>

namespace trainyard::cli {

// Removes the quotes from placeholders of numbers ("$NODES") in YAML, so that the replaced value is a number
// and not a text.
[[nodiscard]] std::string withPlainPlaceholders(std::string yaml);

}  // namespace trainyard::cli
