#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/cluster_client.h"

namespace CLI {
class App;
}

// What all commands share.
namespace trainyard::cli {

// Keeps what the chosen command does, until all flags are read.
using Runner = std::function<void(std::function<int()>)>;

// --kubeconfig, --context and --as.
void addConnectFlags(CLI::App* command, ConnectFlags& flags);
void addNamespaceFlag(CLI::App* command, std::string& ns);

// -o: "table", "json", "yaml" or "name".
// For what is in no namespace: kubectl takes the flag everywhere, and so do fingers.
void addIgnoredNamespaceFlag(CLI::App* command);
void addOutputFlag(CLI::App* command, std::string& output);
// What a command gives, a table where that was asked for, else JSON, in the form that was asked for. `kind`
// stands before names: "trainingjob.trainyard.dev".
[[nodiscard]] base::Result<std::string> shownAs(const std::string& output, std::string_view kind,
                                                base::Result<std::string> text);

inline constexpr std::string_view kJobKind = "trainingjob.trainyard.dev";
inline constexpr std::string_view kQueueKind = "queue.trainyard.dev";

// The text to standard output, or "PROGRAM: ERROR" to standard error. Exit code 0 or 1.
int printResult(const std::string& program, const base::Result<std::string>& text);

// Whether the same request may be answered soon: an overloaded server, one that is away, a budget's no. What
// takes hours (`wait`, `drain`, `-w`) outlasts these and ends at others.
[[nodiscard]] bool mayPass(base::ErrorCode code);

// Prints what `look` gives now and, with `watch`, whenever more than ages have changed, until interrupted or
// an error that stays; a transient one is printed once, on standard error. On a terminal each output replaces
// the one before; elsewhere tables are told apart by a line with the time.
struct Watch {
  bool on = false;
  bool table = true;
};
int printWhile(const Watch& watch, const std::string& program,
               const std::function<base::Result<std::string>()>& look);

// NAME or NAMESPACE/NAME; the namespace that is named first wins, then `ns`, then that of the context.
// kInvalid for what is neither.
[[nodiscard]] base::Result<model::ObjectKey> parseJobName(const std::string& text, const std::string& ns,
                                                          const std::string& fromContext);

// An API server's refusal in the words of who asked for `what`. It answers 404 as well where the whole type
// is unknown.
[[nodiscard]] base::Error explainRefusal(const base::Error& error, const std::string& what,
                                         const ClusterClient& client);

// The TrainingJob as JSON.
[[nodiscard]] base::Result<std::string> readJobBody(ClusterClient& client, const model::ObjectKey& key);

}  // namespace trainyard::cli
