#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/log_follower.h"
#include "cli/log_sources.h"
#include "cli/plain_text.h"
#include "codec/job.h"
#include "kube/paths.h"

namespace trainyard::cli {
namespace {

struct LogsFlags {
  ConnectFlags connect;
  std::string ns;
  std::string job;
  LogChoice choice;
  std::string container;
  int tail = -1;
  bool follow = false;
};

base::Result<std::string> readLog(ClusterClient& client, const model::ObjectKey& key, const LogSource& source,
                                  const LogsFlags& flags, const std::string& program) {
  kube::Query query;
  if (flags.tail >= 0) query.emplace_back("tailLines", fmt::to_string(flags.tail));
  if (!flags.container.empty()) query.emplace_back("container", flags.container);
  auto text = client.read(kube::kPods.object(key.ns, source.pod, "log"), query);
  if (!text && text.error().code == base::ErrorCode::kNotFound)
    return base::fail(text.error().code,
                      fmt::format("there is no pod {}/{}: `{} status {}` shows whether the job runs", key.ns,
                                  source.pod, program, key));
  return text;
}

int follow(ClusterClient& client, const model::ObjectKey& key, const LogsFlags& flags,
           const std::string& program) {
  LogFollower follower(
      client, {.job = key, .choice = flags.choice, .container = flags.container, .tail = flags.tail},
      [](const std::string& line) {
        fmt::print("{}\n", plainText(line, false));
        std::fflush(stdout);
      },
      [&](const std::string& what) { fmt::print(stderr, "{}: {}\n", program, plainText(what, false)); });
  const auto followed = follower.run();
  return followed ? 0 : printResult(program, base::fail(followed.error()));
}

int print(ClusterClient& client, const model::ObjectKey& key, const std::vector<LogSource>& sources,
          const LogsFlags& flags, const std::string& program) {
  int code = 0;
  for (const LogSource& source : sources) {
    auto text = readLog(client, key, source, flags, program);
    if (text) *text = labelled(*text, source.label);
    code = std::max(code, printResult(program, text));
  }
  return code;
}

int logs(const LogsFlags& flags, const std::string& program) {
  const auto client = ClusterClient::connect(flags.connect);
  if (!client) return printResult(program, base::fail(client.error()));
  const auto key = parseJobName(flags.job, flags.ns, (*client)->ns());
  if (!key) return printResult(program, base::fail(key.error()));
  // A member by role and index needs no permission to read jobs; following it does.
  std::vector<LogSource> sources = {
      {model::podName(key->name, flags.choice.role, flags.choice.index), std::string()}};
  if (flags.follow || flags.choice.role.empty()) {
    const auto body = readJobBody(**client, *key);
    if (!body) return printResult(program, base::fail(body.error()));
    const auto job = codec::decodeJobOrGang(*body);
    if (!job) return printResult(program, base::fail(job.error()));
    auto chosen = logSourcesOf(*job, flags.choice);
    if (!chosen) return printResult(program, base::fail(chosen.error()));
    sources = std::move(*chosen);
  }
  return flags.follow ? follow(**client, *key, flags, program)
                      : print(**client, *key, sources, flags, program);
}

}  // namespace

void addLogsCommand(CLI::App& app, const std::string& program, const Runner& run) {
  auto flags = std::make_shared<LogsFlags>();
  CLI::App* command =
      app.add_subcommand("logs", "the log of one member of a job (default: rank 0), or of all");
  command->add_option("JOB", flags->job, "NAME or NAMESPACE/NAME")->required();
  CLI::Option* rank = command->add_option("--rank", flags->choice.rank, "its rank in the process group (0)");
  rank->check(CLI::Range(0, 1'000'000));
  CLI::Option* all =
      command->add_flag("--all", flags->choice.all, "of all ranks, each line with its rank in front");
  all->excludes(rank);
  command->add_option("--role", flags->choice.role, "its role, for members outside of the group")
      ->excludes(rank)
      ->excludes(all);
  command->add_option("--index", flags->choice.index, "its index in the role (0)")
      ->excludes(rank)
      ->excludes(all);
  command->add_option("-c,--container", flags->container, "container of the pod, if there are several");
  command->add_option("--tail", flags->tail, "last lines only")->check(CLI::Range(0, 1'000'000'000));
  command->add_flag("-f,--follow", flags->follow,
                    "follow the log, also of the job's next attempts, until the job has ended");
  addNamespaceFlag(command, flags->ns);
  addConnectFlags(command, flags->connect);
  command->callback([flags, program, run] { run([flags, program] { return logs(*flags, program); }); });
}

}  // namespace trainyard::cli
