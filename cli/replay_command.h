#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace trainyard::cli {

// Adds `trainyard replay`. `run` is called after parsing, when it was chosen, with what carries it out and
// gives the program's exit status.
void addReplayCommand(CLI::App& app, const std::function<void(std::function<int()> command)>& run);

}  // namespace trainyard::cli
