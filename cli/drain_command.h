#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace trainyard::cli {

// Adds `trainyard drain`; `program` is what the user calls it. What was chosen is given to `run`; its exit
// status: 0 when no gang is left on the node, 1 when some stay, 2 when something went wrong.
void addDrainCommand(CLI::App& app, const std::string& program,
                     const std::function<void(std::function<int()> command)>& run);

}  // namespace trainyard::cli
