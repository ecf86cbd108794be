#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace trainyard::cli {

// Adds `trainyard drain`; `program` is the name that the user types. Passes the chosen command to `run`. Exit
// code: 0 if no gang is left on the node, 1 if some stay, 2 if an error occurred.
void addDrainCommand(CLI::App& app, const std::string& program,
                     const std::function<void(std::function<int()> command)>& run);

}  // namespace trainyard::cli
