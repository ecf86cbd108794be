#include "cli/sandbox_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/file.h"
#include "sim/cluster/sandbox.h"

namespace trainyard::cli {
namespace {

constexpr const char* kExamples = "examples";
constexpr const char* kScript = "story.yaml";  // beside the first file

struct SandboxFlags {
  sim::SandboxOptions options;
  std::vector<std::string> files;
};

base::Result<std::vector<std::string>> filesToRun(const std::vector<std::string>& given) {
  if (!given.empty()) return given;
  std::error_code error;
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(kExamples, error)) {
    // Files of jobs are numbered in the order of their story. Files without a
    // number are other inputs: a policy, a profile.
    const std::string name = entry.path().filename().string();
    const bool numbered = name.front() >= '0' && name.front() <= '9';
    if (numbered && entry.path().extension() == ".yaml") found.push_back(entry.path().string());
  }
  if (found.empty()) {
    return base::fail(
        base::ErrorCode::kInvalid,
        "no files given, and there are no job files in ./examples: name some, or go to the folder "
        "that holds examples/");
  }
  std::sort(found.begin(), found.end());
  return found;
}

int runSandboxCommand(SandboxFlags flags) {
  const auto complain = [](const base::Error& error) {
    std::cerr << "trainyard sandbox: " << error.message << "\n";
    return 1;
  };
  const auto files = filesToRun(flags.files);
  if (!files) return complain(files.error());
  const std::string script = (std::filesystem::path(files->front()).parent_path() / kScript).string();
  if (std::filesystem::exists(script)) {
    auto text = base::readFile(script);
    if (!text) return complain(text.error());
    flags.options.script = {script, std::move(*text)};
  }
  for (const std::string& path : *files) {
    auto text = base::readFile(path);
    if (!text) return complain(text.error());
    flags.options.files.push_back({path, std::move(*text)});
  }
  flags.options.colours = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  const auto good = sim::runSandbox(flags.options, [](const std::string& line) {
    std::cout << line << '\n' << std::flush;
  });
  if (!good) return complain(good.error());
  return *good ? 0 : 1;
}

}  // namespace

void addSandboxCommand(CLI::App& app, const std::function<void(std::function<int()>)>& run) {
  CLI::App* command = app.add_subcommand(
      "sandbox", "Runs jobs on a simulated cluster in this process: the real operator, no cluster, no root");
  const auto flags = std::make_shared<SandboxFlags>();
  command->add_option("--nodes", flags->options.nodes, "Nodes, four to a rack")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000));
  command->add_option("--gpus", flags->options.gpus, "GPUs of each node")
      ->capture_default_str()
      ->check(CLI::Range(0, 64));
  command->add_option("--speed", flags->options.speed, "Simulated seconds per second; 0: as fast as it goes")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6));
  command->add_option("--seed", flags->options.seed, "Equal seeds make equal runs")->capture_default_str();
  command->add_flag("--once", flags->options.once, "Exit 0 only if every job ended as the story expects");
  command->add_option(
      "FILES", flags->files,
      "Job files (default: examples/[0-9]*.yaml); how their jobs go is in story.yaml beside the first one");
  command->callback([flags, run] { run([flags] { return runSandboxCommand(*flags); }); });
}

}  // namespace trainyard::cli
