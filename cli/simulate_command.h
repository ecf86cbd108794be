#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace trainyard::cli {

// Adds `trainyard simulate`; `program` is the name that the user types. If the user chose this command, `run`
// is called after parsing with the function that executes it. Exit code: 0 if every job would start now, 1 if
// one would be pending, 2 if one is invalid or the cluster cannot be read.
void addSimulateCommand(CLI::App& app, const std::string& program,
                        const std::function<void(std::function<int()> command)>& run);

}  // namespace trainyard::cli
