#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace trainyard::codec {

// "90s", "10m", "1h30m", "500ms": whole numbers with units h, m, s and ms, in this order, each once at most.
// Empty for everything else, signs and a number without unit included, and beyond 292 million years.
[[nodiscard]] std::optional<std::chrono::milliseconds> parseDuration(std::string_view text);

}  // namespace trainyard::codec
