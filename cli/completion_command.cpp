#include <memory>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/completion.h"

namespace trainyard::cli {
std::vector<CompletedCommand> commandsOf(const CLI::App& app) {
  std::vector<CompletedCommand> commands;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    CompletedCommand command{each->get_name(), each->get_description(), {}};
    for (const CLI::Option* option : each->get_options()) {
      if (option->get_positional()) command.positional = option->get_name(true);
      const bool valued = option->get_type_size() > 0;
      for (const std::string& name : option->get_lnames()) {
        command.options.push_back("--" + name);
        if (valued) command.valued.push_back("--" + name);
      }
      for (const std::string& name : option->get_snames()) {
        if (valued) command.valued.push_back("-" + name);
      }
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

void addCompletionCommand(CLI::App& app, const std::string& program, const Runner& run) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "completion", "a script that completes commands, flags and names of the cluster in your shell");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell, &app, program, run] {
    run([shell, &app, program] {
      const auto commands = commandsOf(app);
      // kubectl completes its plug-ins by separate programs; a shell can complete only this program.
      const std::string name = program == "kubectl trainyard" ? "kubectl-trainyard" : program;
      fmt::print("{}", *shell == "bash"  ? bashCompletion(name, commands)
                       : *shell == "zsh" ? zshCompletion(name, commands)
                                         : fishCompletion(name, commands));
      return 0;
    });
  });
}

}  // namespace trainyard::cli
