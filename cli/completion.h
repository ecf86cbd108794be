#pragma once

#include <string>
#include <vector>

namespace trainyard::cli {

// A command, in the form that a shell completes.
struct CompletedCommand {
  std::string name;
  std::string help;
  std::vector<std::string> options = {};  // "--namespace"
  std::vector<std::string> valued = {};   // options with a value, including short ones: "-n"
  std::string positional = {};            // "JOB"
};

// Completion scripts for the three shells; `program` is the name that the user types. For names of the
// cluster's objects, the scripts call `PROGRAM __complete WORDS…`.
[[nodiscard]] std::string bashCompletion(const std::string& program,
                                         const std::vector<CompletedCommand>& commands);
[[nodiscard]] std::string zshCompletion(const std::string& program,
                                        const std::vector<CompletedCommand>& commands);
[[nodiscard]] std::string fishCompletion(const std::string& program,
                                         const std::vector<CompletedCommand>& commands);

}  // namespace trainyard::cli
