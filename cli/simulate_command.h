#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace trainyard::cli {

// Adds `trainyard simulate`; `program` is what the user calls it. `run` is called after parsing, when it was
// chosen, with what carries it out and gives the program's exit status: 0 when every job would start now, 1
// when one would wait, 2 when one cannot be used or the cluster cannot be read.
void addSimulateCommand(CLI::App& app, const std::string& program,
                        const std::function<void(std::function<int()> command)>& run);

}  // namespace trainyard::cli
