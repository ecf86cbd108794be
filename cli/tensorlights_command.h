#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace trainyard::cli {

// Adds `trainyard tensorlights`; `run` as in replay_command.h.
void addTensorLightsCommand(CLI::App& app, const std::function<void(std::function<int()> command)>& run);

}  // namespace trainyard::cli
