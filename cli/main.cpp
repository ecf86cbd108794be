#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/classify_command.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/completed_names.h"
#include "cli/drain_command.h"
#include "cli/job_commands.h"
#include "cli/plan_command.h"
#include "cli/queue_commands.h"
#include "cli/replay_command.h"
#include "cli/sandbox_command.h"
#include "cli/simulate_command.h"
#include "cli/tensorlights_command.h"
#include "net/end_process.h"

namespace {

using trainyard::cli::JobFlags;

// kubectl finds plug-ins by their file name; messages use the name that the user typed.
std::string nameFrom(const char* program) {
  const std::string file = std::filesystem::path(program).filename().string();
  return file == "kubectl-trainyard" ? "kubectl trainyard" : "trainyard";
}

using Text = trainyard::base::Result<std::string>;

// CLI11 has an exit code for each kind of usage error; shells and scripts expect 2 for all of them.
constexpr int kUsage = 2;

// Lists the arguments that were not parsed, in their original order.
std::string unexpected(const CLI::App& command) {
  std::string text;
  for (const std::string& word : command.remaining(true)) text += fmt::format(" {}", word);
  return "unexpected arguments:" + text;
}

int usage(const CLI::App& app, const CLI::ParseError& error, const std::string& program) {
  // CLI11 reports --help and --version as errors, too.
  if (error.get_exit_code() == 0) return app.exit(error);
  const auto parsed = app.get_subcommands();
  const std::string command =
      parsed.empty() ? program : fmt::format("{} {}", program, parsed.front()->get_name());
  const bool isExtra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  fmt::print(stderr, "{}: {}; see `{} --help`\n", command,
             isExtra ? unexpected(parsed.empty() ? app : *parsed.front()) : std::string(error.what()),
             command);
  return kUsage;
}

std::vector<std::string> namesOf(CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(each->get_name());
  return names;
}

// kubectl runs a program of this name for `kubectl trainyard <TAB>`, and reads the output format of kubectl's
// own completion: candidates, then ":4" (no file names).
bool isKubectlCompletion(const char* program) {
  return std::filesystem::path(program).filename() == "kubectl_complete-trainyard";
}

// Commands for daily use come first.
void groupCommands(CLI::App& app) {
  for (const char* name : {"adopt", "convert", "plan", "simulate", "support-bundle", "completion", "version"})
    app.get_subcommand(name)->group("More commands");
  for (const char* name : {"classify", "replay", "sandbox", "tensorlights"})
    app.get_subcommand(name)->group("For research and development");
}

bool isCommand(CLI::App& app, const std::string& word) {
  return !app.get_subcommands([&](const CLI::App* each) { return each->check_name(word); }).empty();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string program = nameFrom(argv[0]);
  std::function<int()> chosen;
  JobFlags flags;
  std::string output = "table";

  CLI::App app{"Inspect and manage TrainingJobs: why they wait, where they run."};
  app.name(program);
  app.set_version_flag("--version", std::string("trainyard ") + TRAINYARD_VERSION);
  app.require_subcommand(1);

  const auto addConnectFlags = [&](CLI::App* command) {
    trainyard::cli::addConnectFlags(command, flags.connect);
    trainyard::cli::addOutputFlag(command, output);
  };
  bool watch = false;
  const auto show = [&](std::string_view kind, const std::function<Text()>& look) {
    return trainyard::cli::printWhile({watch, output == "table"}, program,
                                      [&] { return trainyard::cli::shownAs(output, kind, look()); });
  };

  CLI::App* status = app.add_subcommand("status", "phase, members, nodes and conditions of jobs");
  status->add_option("JOB", flags.job, "NAME or NAMESPACE/NAME; without it all jobs of the namespace");
  status->add_flag("-A,--all-namespaces", flags.allNamespaces, "jobs of every namespace");
  status->add_option("-l,--selector", flags.selector,
                     "only jobs with these labels, in the syntax of kubectl");
  status->add_flag("-w,--watch", watch, "print again whenever it changes");
  trainyard::cli::addNamespaceFlag(status, flags.ns);
  addConnectFlags(status);
  status->callback([&] {
    chosen = [&] { return show(trainyard::cli::kJobKind, [&] { return trainyard::cli::runStatus(flags); }); };
  });

  CLI::App* explain = app.add_subcommand("explain", "why a job waits, with numbers, or where it runs");
  explain->add_option("JOB", flags.job, "NAME or NAMESPACE/NAME")->required();
  explain->add_flag("-w,--watch", watch, "print again whenever it changes");
  trainyard::cli::addNamespaceFlag(explain, flags.ns);
  addConnectFlags(explain);
  explain->callback([&] {
    chosen = [&] {
      return show(trainyard::cli::kJobKind, [&] { return trainyard::cli::runExplain(flags); });
    };
  });

  std::string queue;
  CLI::App* queues = app.add_subcommand("queues", "the tree of queues: usage, shares, pending jobs");
  queues->add_option("QUEUE", queue, "one queue in full; without it all");
  queues->add_flag("-w,--watch", watch, "print again whenever it changes");
  trainyard::cli::addIgnoredNamespaceFlag(queues);
  addConnectFlags(queues);
  queues->callback([&] {
    chosen = [&] {
      return show(trainyard::cli::kQueueKind,
                  [&] { return trainyard::cli::runQueues({flags.connect, flags.json, queue}); });
    };
  });

  const trainyard::cli::Runner run = [&](std::function<int()> command) { chosen = std::move(command); };
  trainyard::cli::addTimelineCommand(app, program, run);
  trainyard::cli::addLogsCommand(app, program, run);
  trainyard::cli::addWaitCommand(app, program, run);
  trainyard::cli::addSuspendCommands(app, program, run);
  trainyard::cli::addTopCommand(app, program, run);
  trainyard::cli::addNodesCommand(app, program, run);
  trainyard::cli::addAdoptCommand(app, program, run);
  trainyard::cli::addConvertCommand(app, program, run);
  trainyard::cli::addSupportBundleCommand(app, program, run);

  trainyard::cli::addTensorLightsCommand(app,
                                         [&](std::function<int()> command) { chosen = std::move(command); });
  trainyard::cli::addSimulateCommand(app, program,
                                     [&](std::function<int()> command) { chosen = std::move(command); });
  trainyard::cli::addPlanCommand(app, program,
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

  trainyard::cli::addCompletionCommand(app, program, run);

  groupCommands(app);

  if (isKubectlCompletion(argv[0])) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    fmt::print("{}:4\n", trainyard::cli::completedLine(words, trainyard::cli::commandsOf(app)));
    trainyard::net::endProcess(0);
  }
  // The completion scripts call this; it is not for people, and not in the help.
  if (argc > 1 && std::string_view(argv[1]) == "__complete") {
    const std::vector<std::string> words(argv + 2, argv + argc);
    fmt::print("{}", trainyard::cli::completedNames(
                         trainyard::cli::completedWord(words, trainyard::cli::commandsOf(app))));
    trainyard::net::endProcess(0);
  }
  std::vector<std::string> words(argv + 1, argv + argc);
  // `help` and `help COMMAND` work as in most programs.
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (const std::string first = words.empty() ? "-" : words.front();
      first.front() != '-' && !isCommand(app, first)) {
    const std::string near = trainyard::cli::nearestWord(first, namesOf(app));
    fmt::print(stderr, "{}: there is no command \"{}\"{}; `{} --help` lists all\n", program, first,
               near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near), program);
    return kUsage;
  }
  try {
    std::reverse(words.begin(), words.end());  // the order that CLI11 expects
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return usage(app, error, program);
  }
  flags.json = output != "table";
  trainyard::net::endProcess(chosen());
}
