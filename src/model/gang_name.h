#pragma once

#include <string_view>

namespace trainyard::model {

// The name of a Gang has a dot ("llama.jobset"), and that of a TrainingJob has none. So one key names one of
// them, and the two kinds share lists, claims and messages.
[[nodiscard]] inline bool isGangName(std::string_view name) {
  return name.find('.') != std::string_view::npos;
}

}  // namespace trainyard::model
