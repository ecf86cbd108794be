#include "cli/simulate_command.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/cluster_client.h"
#include "cli/command.h"
#include "cli/plain_text.h"
#include "cli/simulate.h"
#include "cli/simulate_text.h"
#include "operator/simulation_json.h"

namespace trainyard::cli {
namespace {

constexpr int kStarts = 0;
constexpr int kWaits = 1;
constexpr int kUnusable = 2;

struct SimulateFlags {
  ConnectFlags connect;
  ConsoleFlags console;
  SimulateOptions options;
  std::vector<std::string> files;
  std::string output = "table";
};

base::Result<Simulation> simulateFiles(const SimulateFlags& flags) {
  const auto manifests = readManifests(flags.files);
  if (!manifests) return base::fail(manifests.error());
  const auto client = ClusterClient::connect(flags.connect);
  if (!client) return base::fail(client.error());
  if (flags.console.url.empty()) return simulate(**client, *manifests, flags.options);
  if (!flags.options.policyFile.empty())
    return base::fail(
        base::ErrorCode::kInvalid,
        "--policy: a console uses the operator's policy; leave out --console and $TRAINYARD_CONSOLE");
  const auto console = ClusterClient::connectConsole(flags.connect, flags.console);
  if (!console) return base::fail(console.error());
  return simulateByConsole(**client, **console, *manifests, flags.options.ns);
}

int exitCode(const Simulation& simulation) {
  int code = kStarts;
  for (const core::Forecast& each : simulation.forecasts) {
    const bool refused = each.outcome == core::Forecast::Outcome::kRefused;
    const bool starts = each.outcome == core::Forecast::Outcome::kStarts;
    code = std::max(code, refused ? kUnusable : starts ? kStarts : kWaits);
  }
  return code;
}

int runSimulateCommand(const SimulateFlags& flags, const std::string& program) {
  const auto simulation = simulateFiles(flags);
  if (!simulation) {
    fmt::print(stderr, "{} simulate: {}\n", program, plainText(simulation.error().message, true));
    return kUnusable;
  }
  fmt::print("{}", plainText(flags.output == "json" ? operator_::simulationJson(*simulation)
                                                    : simulationText(*simulation),
                             true));
  return exitCode(*simulation);
}

}  // namespace

void addSimulateCommand(CLI::App& app, const std::string& program,
                        const std::function<void(std::function<int()>)>& run) {
  CLI::App* command = app.add_subcommand("simulate",
                                         "what would happen to jobs if they were created now: where and when "
                                         "they start, and which jobs they preempt");
  const auto flags = std::make_shared<SimulateFlags>();
  command->add_option("-f,--filename", flags->files, "file with TrainingJobs; - is standard input")
      ->required()
      ->take_all();
  command->add_option("--policy", flags->options.policyFile,
                      "the cluster's policy, a YAML file; without it the operator's ConfigMap");
  command->add_option("--operator-namespace", flags->options.operatorNamespace, "namespace of that ConfigMap")
      ->capture_default_str();
  command
      ->add_option("--policy-configmap", flags->options.policyConfigMap,
                   "its name: NAME-policy where the chart was installed with a fullnameOverride")
      ->capture_default_str();
  command
      ->add_option("--console", flags->console.url,
                   "ask the operator's console, https://HOST:PORT, or http://localhost:PORT through `kubectl "
                   "port-forward`: for users who may not read the cluster")
      ->envname("TRAINYARD_CONSOLE");
  command
      ->add_option("--console-ca", flags->console.caFile,
                   "CA of its certificate, PEM; without it the system's")
      ->envname("TRAINYARD_CONSOLE_CA");
  command->add_option("--token", flags->connect.token,
                      "bearer token for API server and console; without it that of the kubeconfig");
  addConnectFlags(command, flags->connect);
  command->add_option("-n,--namespace", flags->options.ns,
                      "namespace of jobs that name none; without it that of the context");
  command->add_option("-o,--output", flags->output, "table or json")->check(CLI::IsMember({"table", "json"}));
  command->footer(fmt::format(
      "Writes nothing: the API server checks the jobs as if they were created, and the operator's own\n"
      "scheduling runs here, on what the operator sees; with --console it runs there.\n\n"
      "Exit status: 0 all would start now, 1 one would wait, 2 one cannot be used or the cluster cannot be "
      "read.\n\n"
      "Example:\n"
      "  $ {} simulate -f bert.yaml -n ml\n"
      "  ml/bert would start now on 4 nodes in rack z0/b0/r1.\n",
      program));
  command->callback(
      [flags, run, program] { run([flags, program] { return runSimulateCommand(*flags, program); }); });
}

}  // namespace trainyard::cli
