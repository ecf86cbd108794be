#pragma once

#include <string>

#include "replay/engine/result.h"

namespace trainyard::replay {

// One line for each number, then the notes.
[[nodiscard]] std::string replayTable(const ReplayResult& result);
// One object; keys as the members of ReplayResult. Numbers as short as they can be read back exactly.
[[nodiscard]] std::string replayJson(const ReplayResult& result);

}  // namespace trainyard::replay
