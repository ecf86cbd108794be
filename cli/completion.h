#pragma once

#include <string>
#include <vector>

namespace trainyard::cli {

// A command as a shell completes it.
struct CompletedCommand {
  std::string name;
  std::string help;
  std::vector<std::string> options = {};  // "--namespace"
  std::vector<std::string> valued = {};   // those that a value follows, short ones too: "-n"
  std::string positional = {};            // "JOB"
};

// Scripts for the three shells; `program` is what the user types. For names of the cluster they call it as
// `PROGRAM __complete WORDS…`.
[[nodiscard]] std::string bashCompletion(const std::string& program,
                                         const std::vector<CompletedCommand>& commands);
[[nodiscard]] std::string zshCompletion(const std::string& program,
                                        const std::vector<CompletedCommand>& commands);
[[nodiscard]] std::string fishCompletion(const std::string& program,
                                         const std::vector<CompletedCommand>& commands);

}  // namespace trainyard::cli
