#include <memory>

#include <CLI/CLI.hpp>

#include "cli/cluster_text.h"
#include "cli/commands.h"

namespace trainyard::cli {
namespace {

struct TopFlags {
  ConnectFlags connect;
  int count = 20;
  bool watch = false;
  std::string output = "table";
};

}  // namespace

void addTopCommand(CLI::App& app, const std::string& program, const Runner& run) {
  auto flags = std::make_shared<TopFlags>();
  CLI::App* command = app.add_subcommand("top", "queues and jobs by the GPUs that they hold");
  command->add_option("--count", flags->count, "at most this many jobs (20)")->check(CLI::Range(1, 100'000));
  command->add_flag("-w,--watch", flags->watch, "print again whenever it changes");
  addOutputFlag(command, flags->output);
  addIgnoredNamespaceFlag(command);
  addConnectFlags(command, flags->connect);
  command->callback([flags, program, run] {
    run([flags, program] {
      const auto client = ClusterClient::connect(flags->connect);
      if (!client) return printResult(program, base::fail(client.error()));
      return printWhile(
          {flags->watch, flags->output == "table"}, program, [&]() -> base::Result<std::string> {
            const auto snapshot = (*client)->snapshot();
            if (!snapshot) return base::fail(snapshot.error());
            const auto count = static_cast<std::size_t>(flags->count);
            return shownAs(flags->output, kJobKind,
                           flags->output == "table" ? topTable(*snapshot, count) : topJson(*snapshot, count));
          });
    });
  });
}

}  // namespace trainyard::cli
