#pragma once

#include <string_view>

namespace trainyard::model {

// The init container that checks a node before a member starts there: docs/lifecycle.md. No template may have
// one of this name, so its failure never counts as the user's program's.
inline constexpr std::string_view kPreflightContainer = "trainyard-preflight";

}  // namespace trainyard::model
