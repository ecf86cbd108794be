#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace trainyard::cli {

// Adds `trainyard replay`. If the user chose this command, `run` is called after parsing with the function
// that executes it and returns the program's exit code.
void addReplayCommand(CLI::App& app, const std::function<void(std::function<int()> command)>& run);

}  // namespace trainyard::cli
