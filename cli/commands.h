#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/completion.h"

// Commands that need nothing of each other, each in the .cpp file of its name: what it asks for and how it
// ends.
namespace trainyard::cli {

// Nodes, their GPUs, who is on them, and which are avoided.
void addNodesCommand(CLI::App& app, const std::string& program, const Runner& run);
// Queues and jobs by the GPUs that they hold.
void addTopCommand(CLI::App& app, const std::string& program, const Runner& run);
// What happened to a job, in order.
void addTimelineCommand(CLI::App& app, const std::string& program, const Runner& run);
// The log of one member of a job, by rank or by role and index.
void addLogsCommand(CLI::App& app, const std::string& program, const Runner& run);
// Until a job is in a phase or condition. Exit code 0: it is; 1: it ended otherwise, or an error; 3: time is
// over.
void addWaitCommand(CLI::App& app, const std::string& program, const Runner& run);
// suspend and resume: spec.run.suspend.
void addSuspendCommands(CLI::App& app, const std::string& program, const Runner& run);
// One file with all that somebody needs who is to help, without secrets.
void addSupportBundleCommand(CLI::App& app, const std::string& program, const Runner& run);
// All commands of the program, as shells complete them.
[[nodiscard]] std::vector<CompletedCommand> commandsOf(const CLI::App& app);
// A script for bash, zsh or fish. Last: it knows the commands that were added before.
void addCompletionCommand(CLI::App& app, const std::string& program, const Runner& run);
// Another system's job as a TrainingJob. Exit code 1 where one cannot be converted.
void addConvertCommand(CLI::App& app, const std::string& program, const Runner& run);

}  // namespace trainyard::cli
