#pragma once

#include <optional>
#include <string>

namespace trainyard::codec {

// What a delete insists on; kConflict when the object is another incarnation.
struct DeleteOptions {
  std::optional<std::string> uid = std::nullopt;
  std::optional<std::string> resourceVersion = std::nullopt;
  std::optional<int> gracePeriodSeconds = std::nullopt;
  std::optional<std::string> propagationPolicy = std::nullopt;  // Background, Foreground, Orphan
};

[[nodiscard]] std::string encode(const DeleteOptions& options);

}  // namespace trainyard::codec
