#pragma once

#include <string_view>

namespace trainyard::model {

// The init container that checks a node before a member begins there: docs/lifecycle.md. No template may have
// one of this name, so its failure is told of nobody's program.
inline constexpr std::string_view kPreflightContainer = "trainyard-preflight";

}  // namespace trainyard::model
