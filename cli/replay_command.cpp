#include "cli/replay_command.h"

#include <unistd.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/file.h"
#include "codec/policy.h"
#include "replay/engine/plot.h"
#include "replay/engine/text.h"
#include "replay/run.h"

namespace trainyard::cli {
namespace {

using replay::ReplayFormat;
using replay::ReplayPlacement;
using replay::ReplayPolicy;
using replay::ReplaySemantics;

constexpr std::size_t kBarWidth = 40;

struct ReplayFlags {
  replay::ReplayOptions options;
  std::string format;
  std::string policy;
  std::string policyFile;
  std::string checkpoint;
  std::string placement = "default";
  std::string semantics = "own";
  std::string sizes;
  double elasticShare = 0;
  bool noRelaxation = false;
  bool noReports = false;
  std::string output = "table";
  std::string plot;
};

const std::map<std::string, ReplayFormat> kFormats{
    {"muri", ReplayFormat::kMuri},   {"philly", ReplayFormat::kPhilly}, {"itp", ReplayFormat::kItp},
    {"openb", ReplayFormat::kOpenb}, {"pollux", ReplayFormat::kPollux}, {"dorm", ReplayFormat::kDorm}};
// Every ordering of the operator, and Tiresias' own.
std::map<std::string, ReplayPolicy> policies() {
  std::map<std::string, ReplayPolicy> all{{"tiresias", replay::kTiresias}};
  for (const auto& each : model::kOrderings) all.emplace(each.name, ReplayPolicy{each.ordering});
  return all;
}
const std::map<std::string, ReplayPlacement> kPlacements{{"default", ReplayPlacement::kDefault},
                                                         {"fgd", ReplayPlacement::kFgd},
                                                         {"bestfit", ReplayPlacement::kBestFit},
                                                         {"random", ReplayPlacement::kRandom}};
const std::map<std::string, ReplaySemantics> kSemantics{{"own", ReplaySemantics::kOwn},
                                                        {"muri", ReplaySemantics::kMuri}};

// Rewrites one line of a terminal after each further percent.
class ProgressBar {
 public:
  void show(std::size_t done, std::size_t all) {
    const std::size_t percent = done * 100 / std::max<std::size_t>(all, 1);
    if (percent == shown_) return;
    shown_ = percent;
    const std::size_t filled = percent * kBarWidth / 100;
    fmt::print(stderr, "\r[{}{}] {:3} %  {} of {} jobs", std::string(filled, '='),
               std::string(kBarWidth - filled, ' '), percent, done, all);
    std::cerr << std::flush;
  }
  // Clears the line.
  void clear() const {
    if (shown_ != kNothing) fmt::print(stderr, "\r\033[K");
  }

 private:
  static constexpr std::size_t kNothing = 101;
  std::size_t shown_ = kNothing;
};

// Reads the options that need files or parsing.
base::Result<void> complete(ReplayFlags& flags) {
  if (!flags.policyFile.empty()) {
    auto text = base::readFile(flags.policyFile);
    if (!text) return base::fail(text.error());
    auto policy = codec::decodePolicy(*text, flags.policyFile);
    if (!policy) return base::fail(policy.error());
    flags.options.base = std::move(*policy);
  }
  if (!flags.checkpoint.empty()) {
    auto checkpoint = replay::parseReplayCheckpoint(flags.checkpoint);
    if (!checkpoint) return base::fail(checkpoint.error());
    flags.options.checkpoint = *checkpoint;
  }
  if (!flags.sizes.empty()) {
    auto sizes = replay::parseStaticSizes(flags.sizes);
    if (!sizes) return base::fail(sizes.error());
    flags.options.sizes = std::move(*sizes);
  }
  constexpr double kPermille = 1'000;
  flags.options.elasticPermille = static_cast<int>(std::lround(flags.elasticShare * kPermille));
  return {};
}

int runReplayCommand(ReplayFlags& flags) {
  const auto complain = [](const base::Error& error) {
    std::cerr << "trainyard replay: " << error.message << "\n";
    return 1;
  };
  if (auto good = complete(flags); !good) return complain(good.error());
  if (!flags.plot.empty() && flags.options.format == ReplayFormat::kOpenb)
    return complain({base::ErrorCode::kInvalid, "--plot draws times, and --format openb has none"});
  ProgressBar bar;
  replay::ReplayOutside outside{.readFile = [](const std::string& path) { return base::readFile(path); }};
  if (isatty(STDERR_FILENO) == 1)
    outside.progress = [&bar](std::size_t done, std::size_t all) { bar.show(done, all); };
  const auto result = replay::runReplay(flags.options, outside);
  bar.clear();
  if (!result) return complain(result.error());
  if (!flags.plot.empty()) {
    const std::string title = fmt::format("{}: {} on {}", flags.policy.empty() ? "policy" : flags.policy,
                                          flags.options.jobsFile, flags.options.cluster);
    std::ofstream file(flags.plot, std::ios::binary);
    file << replay::replayPlot(*result, title) << std::flush;
    if (!file) return complain({base::ErrorCode::kInvalid, flags.plot + ": cannot be written"});
  }
  std::cout << (flags.output == "json" ? replay::replayJson(*result) : replay::replayTable(*result));
  return 0;
}

void addOptions(CLI::App& command, ReplayFlags& flags) {
  replay::ReplayOptions& options = flags.options;
  const auto oneOf = [](const auto& names) { return CLI::IsMember(names); };
  command
      .add_option("--format", flags.format, "Format of the files: muri, philly, itp, openb, pollux or dorm")
      ->required()
      ->check(oneOf(kFormats));
  command.add_option("--jobs", options.jobsFile, "The trace")->required();
  command
      .add_option("--cluster", options.cluster,
                  "NODESxGPUS, as 8x8, or a file of nodes in the trace's format")
      ->required();
  command.add_option("--policy-file", flags.policyFile,
                     "The operator's policy (docs/policy.md); else its defaults decide");
  command
      .add_option(
          "--policy", flags.policy,
          "The order of service, in place of the policy's own. fifo: strictly in turn, no job is preempted. "
          "las: least attained service. srtf, srsf: shortest remaining time, or time x GPUs; these two know "
          "durations. tiresias: las with its two limits. default: ours")
      ->check(oneOf(policies()));
  command.add_option("--checkpoint", flags.checkpoint,
                     "As every=3600,restart=30,share=0.5: this share of the jobs writes a checkpoint this "
                     "often, loses the work since then when it is preempted, and needs the restart time. "
                     "Without every: writes it when it is preempted. Without restart: as in the trace. All "
                     "others lose their work when preempted, and never are for order");
  command
      .add_option("--placement", flags.placement,
                  "Which node a pod gets, openb only: ours, fragmentation gradient descent, best fit, or any")
      ->capture_default_str()
      ->check(oneOf(kPlacements));
  command
      .add_option(
          "--semantics", flags.semantics,
          "own: start-up is paid on a start, a resume and a move. muri: the rules of that paper's simulator, "
          "for its own traces")
      ->capture_default_str()
      ->check(oneOf(kSemantics));
  command.add_flag("--with-durations", options.withDurations,
                   "Every job states how long it will run (with srtf and srsf in any case)");
  command.add_flag("--elastic", options.elastic,
                   "jobs may be resized, from one GPU to four times what they ask for (pollux)");
  command
      .add_option("--elastic-share", flags.elasticShare,
                  "This share of the jobs may have half of the members that they ask for to twice as many "
                  "(philly, itp)")
      ->check(CLI::Range(0.0, 1.0));
  command
      .add_option("--scaling", options.scaling,
                  "Of those: n times as many members are n to this power times as fast; 1 is linear")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  command.add_option("--sizes", flags.sizes,
                     "As lr=8,mf=4: every application of this kind has so many containers from its start to "
                     "its end (dorm); else all are elastic");
  command.add_flag("--adaptive-batch", options.adaptiveBatch,
                   "elastic jobs choose their batch size for the GPUs that they have (pollux)");
  command.add_flag("--no-reports", flags.noReports, "elastic jobs do not report how fast they are");
  command.add_flag("--no-relaxation", flags.noRelaxation,
                   "Never place a job wider than it prefers, however long it waits (philly, itp)");
  command.add_flag("--one-queue", options.oneQueue,
                   "Jobs of all the trace's queues wait in one, which has no guarantee (philly)");
  command.add_option("--seed", options.seed, "For what is drawn (openb): equal seeds make equal results")
      ->capture_default_str();
  command
      .add_option("--seeds", options.seeds,
                  "Means over so many seeds, counted up from --seed (openb); every placement is shown on the "
                  "same shuffles")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000}));
  command.add_option("-o,--output", flags.output, "table or json")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "json"}));
  command.add_option("--plot", flags.plot,
                     "Draw GPUs in use, waiting jobs and completion times into this SVG file");
}

}  // namespace

void addReplayCommand(CLI::App& app, const std::function<void(std::function<int()>)>& run) {
  CLI::App* command = app.add_subcommand(
      "replay", "Runs a public trace under virtual time: how long jobs take with a policy (docs/replay.md)");
  const auto flags = std::make_shared<ReplayFlags>();
  addOptions(*command, *flags);
  command->callback([flags, run] {
    flags->options.format = kFormats.at(flags->format);
    if (!flags->policy.empty()) flags->options.policy = policies().at(flags->policy);
    flags->options.placement = kPlacements.at(flags->placement);
    flags->options.semantics = kSemantics.at(flags->semantics);
    flags->options.relaxation = !flags->noRelaxation;
    flags->options.reports = !flags->noReports;
    run([flags] { return runReplayCommand(*flags); });
  });
}

}  // namespace trainyard::cli
