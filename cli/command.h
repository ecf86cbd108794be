#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/cluster_client.h"

namespace CLI {
class App;
}

// Functions that all commands share.
namespace trainyard::cli {

// Stores the action of the chosen command until all flags are parsed.
using Runner = std::function<void(std::function<int()>)>;

// --kubeconfig, --context and --as.
void addConnectFlags(CLI::App* command, ConnectFlags& flags);
void addNamespaceFlag(CLI::App* command, std::string& ns);

// The first flag, -n, has no effect. It is for objects without a namespace, because kubectl accepts it
// everywhere. The second flag is -o: "table", "json", "yaml" or "name".
void addIgnoredNamespaceFlag(CLI::App* command);
void addOutputFlag(CLI::App* command, std::string& output);
// Converts a command's output, a table if `output` is "table" and JSON otherwise, to the requested form.
// `kind` is the prefix of names: "trainingjob.trainyard.dev".
[[nodiscard]] base::Result<std::string> shownAs(const std::string& output, std::string_view kind,
                                                base::Result<std::string> text);

inline constexpr std::string_view kJobKind = "trainingjob.trainyard.dev";
inline constexpr std::string_view kQueueKind = "queue.trainyard.dev";

// Prints the text to standard output, or "PROGRAM: ERROR" to standard error. Returns exit code 0 or 1.
int printResult(const std::string& program, const base::Result<std::string>& text);

// Returns true for transient errors: an overloaded or unreachable server, or an exhausted disruption budget.
// Commands that run for hours (`wait`, `drain`, `-w`) continue after these and end at others.
[[nodiscard]] bool mayPass(base::ErrorCode code);

// Prints the result of `look`; with `watch`, again whenever more than ages have changed, until the user
// interrupts it or a permanent error occurs. A transient error is printed once, on standard error. On a
// terminal each output replaces the previous one; elsewhere a line with the time separates tables.
struct Watch {
  bool on = false;
  bool table = true;
};
int printWhile(const Watch& watch, const std::string& program,
               const std::function<base::Result<std::string>()>& look);

// Parses NAME or NAMESPACE/NAME. The namespace in `text` takes precedence, then `ns`, then
// that of the context. kInvalid for other texts.
[[nodiscard]] base::Result<model::ObjectKey> parseJobName(const std::string& text, const std::string& ns,
                                                          const std::string& fromContext);

// Rewords an API server's error for the user that asked for `what`. The server
// also answers 404 if the whole type is unknown.
[[nodiscard]] base::Error explainRefusal(const base::Error& error, const std::string& what,
                                         const ClusterClient& client);

// Returns the TrainingJob as JSON.
[[nodiscard]] base::Result<std::string> readJobBody(ClusterClient& client, const model::ObjectKey& key);

}  // namespace trainyard::cli
