#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace trainyard::cli {

// `trainyard plan`: in which shapes a job would train fastest.
void addPlanCommand(CLI::App& app, const std::string& program,
                    const std::function<void(std::function<int()>)>& run);

}  // namespace trainyard::cli
