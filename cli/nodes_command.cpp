#include <memory>

#include <CLI/CLI.hpp>

#include "cli/cluster_text.h"
#include "cli/commands.h"

namespace trainyard::cli {
namespace {

struct NodesFlags {
  ConnectFlags connect;
  bool all = false;
  bool watch = false;
  std::string output = "table";
};

base::Result<std::string> nodesText(ClusterClient& client, const NodesFlags& flags) {
  const auto snapshot = client.snapshot();
  if (!snapshot) return base::fail(snapshot.error());
  return flags.output == "table" ? nodesTable(*snapshot, flags.all) : nodesJson(*snapshot, flags.all);
}

}  // namespace

void addNodesCommand(CLI::App& app, const std::string& program, const Runner& run) {
  auto flags = std::make_shared<NodesFlags>();
  CLI::App* command =
      app.add_subcommand("nodes", "nodes with GPUs: type, used, free, by which gangs, and which are avoided");
  command->add_flag("--all", flags->all, "also nodes without GPUs");
  command->add_flag("-w,--watch", flags->watch, "print again whenever it changes");
  addOutputFlag(command, flags->output);
  addIgnoredNamespaceFlag(command);
  addConnectFlags(command, flags->connect);
  command->callback([flags, program, run] {
    run([flags, program] {
      const auto client = ClusterClient::connect(flags->connect);
      if (!client) return printResult(program, base::fail(client.error()));
      return printWhile({flags->watch, flags->output == "table"}, program,
                        [&] { return shownAs(flags->output, "node", nodesText(**client, *flags)); });
    });
  });
}

}  // namespace trainyard::cli
