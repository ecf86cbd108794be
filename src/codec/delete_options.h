#pragma once

#include <optional>
#include <string>

namespace trainyard::codec {

// The preconditions and options of a delete request; kConflict if the object is another incarnation.
struct DeleteOptions {
  std::optional<std::string> uid = std::nullopt;
  std::optional<std::string> resourceVersion = std::nullopt;
  std::optional<int> gracePeriodSeconds = std::nullopt;
  std::optional<std::string> propagationPolicy = std::nullopt;  // Background, Foreground, Orphan
};

[[nodiscard]] std::string encode(const DeleteOptions& options);

}  // namespace trainyard::codec
