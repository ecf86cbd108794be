#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace trainyard::cli {

// Adds `trainyard plan`: prints the shapes in which a job would train fastest.
void addPlanCommand(CLI::App& app, const std::string& program,
                    const std::function<void(std::function<int()>)>& run);

}  // namespace trainyard::cli
