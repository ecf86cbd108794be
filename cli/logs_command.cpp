#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "codec/job.h"
#include "kube/paths.h"
#include "model/process_group.h"

namespace trainyard::cli {
namespace {

struct Flags {
  ConnectFlags connect;
  std::string ns;
  std::string job;
  int rank = 0;
  std::string role;
  int index = 0;
  std::string container;
  int tail = -1;
};

base::Result<std::string> logs(const Flags& flags, const std::string& program) {
  const auto client = ClusterClient::connect(flags.connect);
  if (!client) return base::fail(client.error());
  const auto key = parseJobName(flags.job, flags.ns, (*client)->ns());
  if (!key) return base::fail(key.error());
  std::string pod;
  if (!flags.role.empty()) {
    pod = model::podName(key->name, flags.role, flags.index);
  } else {
    const auto body = readJobBody(**client, *key);
    if (!body) return base::fail(body.error());
    const auto job = codec::decodeJob(*body);
    if (!job) return base::fail(job.error());
    const auto found = model::memberOfRank(*job, flags.rank);
    if (!found) {
      return base::fail(
          base::ErrorCode::kNotFound,
          fmt::format("{} has no rank {}: its process group has {} members; --role and --index name any "
                      "member",
                      *key, flags.rank, model::groupSize(*job)));
    }
    pod = model::podName(key->name, found->first->name, found->second);
  }
  kube::Query query;
  if (flags.tail >= 0) query.emplace_back("tailLines", fmt::to_string(flags.tail));
  if (!flags.container.empty()) query.emplace_back("container", flags.container);
  auto text = (*client)->read(kube::kPods.object(key->ns, pod, "log"), query);
  if (!text && text.error().code == base::ErrorCode::kNotFound)
    return base::fail(text.error().code,
                      fmt::format("there is no pod {}/{}: `{} status {}` says whether the job runs", key->ns,
                                  pod, program, *key));
  return text;
}

}  // namespace

void addLogsCommand(CLI::App& app, const std::string& program, const Runner& run) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("logs", "the log of one member of a job, of rank 0 unless said otherwise");
  command->add_option("JOB", flags->job, "NAME or NAMESPACE/NAME")->required();
  CLI::Option* rank = command->add_option("--rank", flags->rank, "its rank in the process group (0)");
  rank->check(CLI::Range(0, 1'000'000));
  command->add_option("--role", flags->role, "its role, for members outside of the group")->excludes(rank);
  command->add_option("--index", flags->index, "its index in the role (0)")->excludes(rank);
  command->add_option("-c,--container", flags->container, "container of it, where there are several");
  command->add_option("--tail", flags->tail, "last lines only")->check(CLI::Range(0, 1'000'000'000));
  addNamespaceFlag(command, flags->ns);
  addConnectFlags(command, flags->connect);
  command->callback([flags, program, run] {
    run([flags, program] { return printResult(program, logs(*flags, program)); });
  });
}

}  // namespace trainyard::cli
