#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/timeline.h"

namespace trainyard::cli {
namespace {

struct TimelineFlags {
  ConnectFlags connect;
  std::string ns;
  std::string job;
  std::string output = "table";
};

base::Result<std::string> timeline(const TimelineFlags& flags) {
  const auto client = ClusterClient::connect(flags.connect);
  if (!client) return base::fail(client.error());
  const auto key = parseJobName(flags.job, flags.ns, (*client)->ns());
  if (!key) return base::fail(key.error());
  const auto job = readJobBody(**client, *key);
  if (!job) return base::fail(job.error());
  // Events as core/v1, which every version of Kubernetes can select by the object that they are about.
  const auto events = (*client)->read(
      fmt::format("/api/v1/namespaces/{}/events", key->ns),
      {{"fieldSelector", fmt::format("involvedObject.kind=TrainingJob,involvedObject.name={}", key->name)}});
  // A user that may read jobs but not Events still gets the conditions.
  const std::string list = events ? *events : R"({"items":[]})";
  return shownAs(flags.output, kJobKind,
                 flags.output == "table" ? timelineText(*job, list) : timelineJson(*job, list));
}

}  // namespace

void addTimelineCommand(CLI::App& app, const std::string& program, const Runner& run) {
  auto flags = std::make_shared<TimelineFlags>();
  CLI::App* command = app.add_subcommand("timeline", "what happened to a job, in order");
  command->add_option("JOB", flags->job, "NAME or NAMESPACE/NAME")->required();
  addOutputFlag(command, flags->output);
  addNamespaceFlag(command, flags->ns);
  addConnectFlags(command, flags->connect);
  command->callback(
      [flags, program, run] { run([flags, program] { return printResult(program, timeline(*flags)); }); });
}

}  // namespace trainyard::cli
