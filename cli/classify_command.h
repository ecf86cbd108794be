#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace trainyard::cli {

// Adds `classify` to the program; the chosen command is passed to `run`.
void addClassifyCommand(CLI::App& app, const std::function<void(std::function<int()>)>& run);

}  // namespace trainyard::cli
