// Measures the quality of plans on measured tables and on a simulated cluster. See docs/planner.md.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/file.h"
#include "planner/measured_tables.h"
#include "planner/simulated_cluster.h"

namespace {

using namespace trainyard;  // NOLINT(google-build-using-namespace): a program of tests

int runTables(const std::string& folder, int draws, std::uint64_t seed, bool anyFive) {
  fmt::print("{:<13}{:>11}{:>13}{:>15}{:>13}{:>14}{:>11}\n", "model", "of best", "worst trial",
             "worst decision", "mean error", "median error", "decisions");
  double sum = 0;
  double worst = 1;
  const std::vector<std::string> models{"cifar10", "imagenet", "bert", "deepspeech2", "yolov3", "ncf"};
  for (const std::string& model : models) {
    const std::string file = folder + "/" + model + "/placements.csv";
    const auto text = base::readFile(file);
    const auto trials = text ? test::tryTable(model, file, *text, draws, seed, anyFive)
                             : base::Result<test::TableTrials>(base::fail(text.error()));
    if (!trials) {
      fmt::print(stderr, "planner-quality: {}\n", trials.error().message);
      return 2;
    }
    fmt::print("{:<13}{:>9.2f} %{:>11.2f} %{:>13.2f} %{:>11.1f} %{:>12.1f} %{:>11}\n", model,
               100 * trials->meanSpeed, 100 * trials->worstTrialSpeed, 100 * trials->worstSpeed,
               100 * trials->meanError, 100 * trials->medianError, trials->decisions);
    sum += trials->meanSpeed / static_cast<double>(models.size());
    worst = std::min(worst, trials->meanSpeed);
  }
  fmt::print("mean {:.2f} % of the best measured, worst model {:.2f} %\n", 100 * sum, 100 * worst);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"How good plans are."};
  app.require_subcommand(1);
  std::string folder = "tests/traces/pollux/traces";
  int draws = 20;
  std::uint64_t seed = 1;
  bool anyFive = false;
  int status = 0;
  CLI::App* tables = app.add_subcommand("tables", "on measured step times");
  tables->add_option("--traces", folder, "folder with a folder for each model")->capture_default_str();
  tables->add_option("--draws", draws, "trials for each model")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  tables->add_option("--seed", seed, "of the draws")->capture_default_str();
  tables->add_flag("--any-five", anyFive, "five steps without a rule instead of one of each kind");
  tables->callback([&] { status = runTables(folder, draws, seed, anyFive); });
  CLI::App* cluster = app.add_subcommand("cluster", "on a simulated cluster of 30 unlike machines");
  cluster->add_option("--seed", seed, "of the noise")->capture_default_str();
  cluster->callback([&] { fmt::print("{}", test::clusterText(test::trySimulatedCluster(seed))); });
  CLI11_PARSE(app, argc, argv);
  return status;
}
