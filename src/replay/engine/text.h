#pragma once

#include <string>

#include "replay/engine/result.h"

namespace trainyard::replay {

// Formats one line for each number, then the notes.
[[nodiscard]] std::string replayTable(const ReplayResult& result);
// Formats one object; its keys are the members of ReplayResult. Numbers are the shortest exact ones.
[[nodiscard]] std::string replayJson(const ReplayResult& result);

}  // namespace trainyard::replay
