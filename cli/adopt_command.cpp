#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/adopt/adopt.h"
#include "cli/commands.h"
#include "cli/manifests.h"

namespace trainyard::cli {
namespace {

struct AdoptFlags {
  std::vector<std::string> files;
  AdoptOptions options;
};

int adopt(const std::string& program, const AdoptFlags& flags) {
  const auto manifests = readManifests(flags.files);
  if (!manifests) return printResult(program, base::fail(manifests.error()));
  const auto adopted = adoptManifests(*manifests, flags.options);
  if (!adopted) return printResult(program, base::fail(adopted.error()));
  for (const std::string& each : adopted->report) fmt::print(stderr, "{}\n", each);
  printResult(program, adopted->text);
  return exitStatusOf(adopted->worst);
}

}  // namespace

void addAdoptCommand(CLI::App& app, const std::string& program, const Runner& run) {
  auto flags = std::make_shared<AdoptFlags>();
  CLI::App* command = app.add_subcommand(
      "adopt",
      "objects that keep their kind (Job, JobSet, MPIJob, RayCluster, Deployment, Pod and others) with the "
      "queue, gate and suspend by which Trainyard places their pods, as YAML without comments; standard "
      "error "
      "names each change. Exit status: 0 all keeps its meaning, 3 something changed or is lost, 4 something "
      "cannot work as written, 1 nothing was adopted");
  command->add_option("-f,--filename", flags->files, "file, or - for standard input")->required();
  command->add_option("--queue", flags->options.queue,
                      "queue of all objects; without it the one that they name, or default");
  command->add_flag(
      "--as-gang", flags->options.asGang,
      "the pods of a Deployment, StatefulSet, ReplicaSet, LeaderWorkerSet or Job start together");
  command->callback([flags, program, run] { run([flags, program] { return adopt(program, *flags); }); });
}

}  // namespace trainyard::cli
