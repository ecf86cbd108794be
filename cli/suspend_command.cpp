#include <memory>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "kube/paths.h"

namespace trainyard::cli {
namespace {

struct Flags {
  ConnectFlags connect;
  std::string ns;
  std::vector<std::string> jobs;
};

base::Result<std::string> write(const Flags& flags, bool suspend) {
  const auto client = ClusterClient::connect(flags.connect);
  if (!client) return base::fail(client.error());
  std::string text;
  for (const std::string& name : flags.jobs) {
    const auto key = parseJobName(name, flags.ns, (*client)->ns());
    if (!key) return base::fail(key.error());
    const auto done = (*client)->patch(kube::kTrainingJobs.object(key->ns, key->name),
                                       fmt::format(R"({{"spec":{{"run":{{"suspend":{}}}}}}})", suspend));
    if (!done) return base::fail(done.error());
    text +=
        fmt::format("{} {}\n", *key,
                    suspend ? "is asked to stop: its pods go, it keeps its name" : "waits for a place again");
  }
  return text;
}

void addOne(CLI::App& app, const std::string& program, const Runner& run, bool suspend) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = suspend ? app.add_subcommand("suspend", "stop jobs and let them wait: spec.run.suspend")
                              : app.add_subcommand("resume", "let suspended jobs wait for a place again");
  command->add_option("JOB", flags->jobs, "NAME or NAMESPACE/NAME")->required();
  addNamespaceFlag(command, flags->ns);
  addConnectFlags(command, flags->connect);
  command->callback([flags, program, run, suspend] {
    run([flags, program, suspend] { return printResult(program, write(*flags, suspend)); });
  });
}

}  // namespace

void addSuspendCommands(CLI::App& app, const std::string& program, const Runner& run) {
  addOne(app, program, run, true);
  addOne(app, program, run, false);
}

}  // namespace trainyard::cli
