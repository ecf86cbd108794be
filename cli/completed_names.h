#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/cluster_client.h"
#include "cli/completion.h"

namespace trainyard::cli {

enum class CompletedKind { kNothing, kJobs, kQueues, kNodes, kNamespaces, kForms, kStates };

// What the last word of a command line may become.
struct CompletedWord {
  CompletedKind kind = CompletedKind::kNothing;
  std::string ns = {};      // of jobs; empty: that of the context
  std::string prefix = {};  // of the word, that stays: "ml/", "--namespace="
  std::string begin = {};   // of the name
  ConnectFlags connect = {};
};

// `words`: the line without the program, the last one as far as it is typed. bash takes "=" for a word of its
// own.
[[nodiscard]] CompletedWord completedWord(const std::vector<std::string>& words,
                                          const std::vector<CompletedCommand>& commands);

// One candidate a line, from the cluster within two seconds. Empty where it cannot be asked: whoever presses
// a key wants no error.
[[nodiscard]] std::string completedNames(const CompletedWord& word);
// The same for any word of a line: commands and flags as well.
[[nodiscard]] std::string completedLine(const std::vector<std::string>& words,
                                        const std::vector<CompletedCommand>& commands);

// The one of `names` that was meant: one or two letters away, of several the first. Empty: none is near.
[[nodiscard]] std::string nearestWord(const std::string& word, const std::vector<std::string>& names);

}  // namespace trainyard::cli
