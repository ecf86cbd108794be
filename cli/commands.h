#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/completion.h"

// Commands that are independent of each other. Each is in the .cpp file of its name,
// which documents its requests and its exit codes.
namespace trainyard::cli {

// Nodes, their GPUs, the gangs on them, and which nodes are suspected.
void addNodesCommand(CLI::App& app, const std::string& program, const Runner& run);
// Queues and jobs by the GPUs that they use.
void addTopCommand(CLI::App& app, const std::string& program, const Runner& run);
// The history of a job, in order.
void addTimelineCommand(CLI::App& app, const std::string& program, const Runner& run);
// The log of one member of a job, by rank or by role and index.
void addLogsCommand(CLI::App& app, const std::string& program, const Runner& run);
// Waits until a job is in a phase or has a condition. Exit code 0: it is or has; 1: it ended
// otherwise, or an error occurred; 3: the time is over.
void addWaitCommand(CLI::App& app, const std::string& program, const Runner& run);
// suspend and resume: set spec.run.suspend.
void addSuspendCommands(CLI::App& app, const std::string& program, const Runner& run);
// Writes one file with all that a supporter needs, without secrets.
void addSupportBundleCommand(CLI::App& app, const std::string& program, const Runner& run);
// Returns all commands of the program, in the form that shells complete.
[[nodiscard]] std::vector<CompletedCommand> commandsOf(const CLI::App& app);
// Prints a script for bash, zsh or fish. Must be added last: it lists the commands that were added before.
void addCompletionCommand(CLI::App& app, const std::string& program, const Runner& run);
// Has Trainyard place the pods of objects that keep their kind. Exit code 1 if there is none.
void addAdoptCommand(CLI::App& app, const std::string& program, const Runner& run);
// Converts another system's job to a TrainingJob. Exit code 1 if a job cannot be converted.
void addConvertCommand(CLI::App& app, const std::string& program, const Runner& run);

}  // namespace trainyard::cli
