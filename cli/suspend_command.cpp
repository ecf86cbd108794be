#include <memory>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "kube/paths.h"
#include "model/gang_name.h"

namespace trainyard::cli {
namespace {

struct SuspendFlags {
  ConnectFlags connect;
  std::string ns;
  std::vector<std::string> jobs;
};

base::Result<std::string> writeOne(ClusterClient& client, const model::ObjectKey& key, bool suspend) {
  const bool isGang = model::isGangName(key.name);
  const auto done = client.patch((isGang ? kube::kGangs : kube::kTrainingJobs).object(key.ns, key.name),
                                 isGang ? fmt::format(R"({{"spec":{{"hold":{}}}}})", suspend)
                                        : fmt::format(R"({{"spec":{{"run":{{"suspend":{}}}}}}})", suspend));
  if (!done) {
    const std::string what = fmt::format("{} {}", isGang ? "Gang" : "TrainingJob", key);
    return base::fail(explainRefusal(done.error(), what, client));
  }
  return fmt::format("{} {}\n", key,
                     suspend ? "is being suspended: its pods are deleted, the job stays" : "waits again");
}

// Continues after a job that is refused, and reports each result. Returns 0 if all succeeded.
int writeAll(const SuspendFlags& flags, const std::string& program, bool suspend) {
  const auto client = ClusterClient::connect(flags.connect);
  if (!client) return printResult(program, base::fail(client.error()));
  int code = 0;
  for (const std::string& name : flags.jobs) {
    const auto key = parseJobName(name, flags.ns, (*client)->ns());
    code |= printResult(program, key ? writeOne(**client, *key, suspend) : base::fail(key.error()));
  }
  return code;
}

void addOne(CLI::App& app, const std::string& program, const Runner& run, bool suspend) {
  auto flags = std::make_shared<SuspendFlags>();
  CLI::App* command =
      suspend ? app.add_subcommand("suspend",
                                   "suspend jobs (spec.run.suspend): their pods are deleted, the jobs stay")
              : app.add_subcommand("resume", "resume suspended jobs: they wait for free capacity again");
  command->add_option("JOB", flags->jobs, "NAME or NAMESPACE/NAME")->required();
  addNamespaceFlag(command, flags->ns);
  addConnectFlags(command, flags->connect);
  command->callback([flags, program, run, suspend] {
    run([flags, program, suspend] { return writeAll(*flags, program, suspend); });
  });
}

}  // namespace

void addSuspendCommands(CLI::App& app, const std::string& program, const Runner& run) {
  addOne(app, program, run, true);
  addOne(app, program, run, false);
}

}  // namespace trainyard::cli
