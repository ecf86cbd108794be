#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/cluster_client.h"
#include "cli/completion.h"

namespace trainyard::cli {

enum class CompletedKind { kNothing, kJobs, kQueues, kNodes, kNamespaces, kForms, kStates };

// The candidates for the last text of a command line.
struct CompletedWord {
  CompletedKind kind = CompletedKind::kNothing;
  std::string ns = {};      // of jobs; empty: that of the context
  std::string prefix = {};  // part of the text that stays: "ml/", "--namespace="
  std::string begin = {};   // of the name, as far as it is typed
  ConnectFlags connect = {};
};

// `words`: the line without the program; the last element is as long as it is typed. bash
// splits a line at "=", and passes "=" as an element.
[[nodiscard]] CompletedWord completedWord(const std::vector<std::string>& words,
                                          const std::vector<CompletedCommand>& commands);

// Returns one candidate a line, from the cluster within two seconds. Empty if the cluster cannot be
// reached: a user who presses a key expects no error.
[[nodiscard]] std::string completedNames(const CompletedWord& word);
// The same for any position of a line, including commands and flags.
[[nodiscard]] std::string completedLine(const std::vector<std::string>& words,
                                        const std::vector<CompletedCommand>& commands);

// Returns the name that is at most two letters different; the nearest and first one. Empty: no name is near.
[[nodiscard]] std::string nearestWord(const std::string& word, const std::vector<std::string>& names);

}  // namespace trainyard::cli
