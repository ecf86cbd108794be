#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace trainyard::codec {

// Parses "90s", "10m", "1h30m", "500ms": whole numbers with units h, m, s and ms, in this order, each at most
// once. Returns nullopt for other text, such as signs and numbers without unit, and beyond 292 million years.
[[nodiscard]] std::optional<std::chrono::milliseconds> parseDuration(std::string_view text);

}  // namespace trainyard::codec
