#include <filesystem>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/classify_command.h"
#include "cli/drain_command.h"
#include "cli/job_commands.h"
#include "cli/queue_commands.h"
#include "cli/replay_command.h"
#include "cli/sandbox_command.h"
#include "cli/simulate_command.h"
#include "cli/tensorlights_command.h"
#include "net/end_process.h"

namespace {

using trainyard::cli::JobFlags;

// kubectl finds its plug-ins by name and shows ours in its own words.
std::string nameFrom(const char* program) {
  const std::string file = std::filesystem::path(program).filename().string();
  return file == "kubectl-trainyard" ? "kubectl trainyard" : "trainyard";
}

int print(const std::string& program, const trainyard::base::Result<std::string>& text) {
  if (!text) {
    fmt::print(stderr, "{}: {}\n", program, text.error().message);
    return 1;
  }
  fmt::print("{}", *text);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string program = nameFrom(argv[0]);
  std::function<int()> chosen;
  JobFlags flags;
  std::string output = "table";

  CLI::App app{"Gangs of TrainingJobs: why they wait, where they run."};
  app.name(program);
  app.set_version_flag("--version", std::string("trainyard ") + TRAINYARD_VERSION);
  app.require_subcommand(1);

  const auto addConnectFlags = [&](CLI::App* command) {
    command->add_option("--kubeconfig", flags.connect.kubeconfig, "kubeconfig file");
    command->add_option("--context", flags.connect.context, "context of it, instead of the current one");
    command->add_option("-n,--namespace", flags.ns, "namespace; without it that of the context");
    command->add_option("-o,--output", output, "table or json")->check(CLI::IsMember({"table", "json"}));
  };

  CLI::App* status = app.add_subcommand("status", "phase, members, nodes and conditions of jobs");
  status->add_option("JOB", flags.job, "NAME or NAMESPACE/NAME; without it all jobs of the namespace");
  status->add_flag("-A,--all-namespaces", flags.allNamespaces, "jobs of every namespace");
  addConnectFlags(status);
  status->callback([&] { chosen = [&] { return print(program, trainyard::cli::runStatus(flags)); }; });

  CLI::App* explain = app.add_subcommand("explain", "why a job waits, with numbers, or where it runs");
  explain->add_option("JOB", flags.job, "NAME or NAMESPACE/NAME")->required();
  addConnectFlags(explain);
  explain->callback([&] { chosen = [&] { return print(program, trainyard::cli::runExplain(flags)); }; });

  std::string queue;
  CLI::App* queues = app.add_subcommand("queues", "the tree of queues: usage, shares, who waits");
  queues->add_option("QUEUE", queue, "one queue in full; without it all");
  queues->add_option("--kubeconfig", flags.connect.kubeconfig, "kubeconfig file");
  queues->add_option("--context", flags.connect.context, "context of it, instead of the current one");
  queues->add_option("-o,--output", output, "table or json")->check(CLI::IsMember({"table", "json"}));
  queues->callback([&] {
    chosen = [&] { return print(program, trainyard::cli::runQueues({flags.connect, flags.json, queue})); };
  });

  trainyard::cli::addTensorLightsCommand(app,
                                         [&](std::function<int()> command) { chosen = std::move(command); });
  trainyard::cli::addSimulateCommand(app, program,
                                     [&](std::function<int()> command) { chosen = std::move(command); });
  trainyard::cli::addDrainCommand(app, program,
                                  [&](std::function<int()> command) { chosen = std::move(command); });
  trainyard::cli::addSandboxCommand(app, [&](std::function<int()> command) { chosen = std::move(command); });
  trainyard::cli::addReplayCommand(app, [&](std::function<int()> command) { chosen = std::move(command); });

  trainyard::cli::addClassifyCommand(app, [&](std::function<int()> command) { chosen = std::move(command); });

  CLI::App* version = app.add_subcommand("version", "the version of this program");
  version->callback([&] {
    chosen = [] {
      fmt::print("trainyard {}\n", TRAINYARD_VERSION);
      return 0;
    };
  });

  CLI11_PARSE(app, argc, argv);
  flags.json = output == "json";
  trainyard::net::endProcess(chosen());
}
