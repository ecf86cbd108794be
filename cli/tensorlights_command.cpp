#include "cli/tensorlights_command.h"

#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "replay/papers/tensorlights.h"

namespace trainyard::cli {

void addTensorLightsCommand(CLI::App& app, const std::function<void(std::function<int()> command)>& run) {
  const auto options = std::make_shared<replay::TensorLightsOptions>();
  CLI::App* command = app.add_subcommand("tensorlights",
                                         "What ordering servers' traffic gains, packet by packet: 21 jobs on "
                                         "21 hosts, eight placements (docs/network.md)");
  command->add_option("--steps", options->steps, "Steps of each job")
      ->check(CLI::Range(1, 30'005))
      ->capture_default_str();
  command->add_option("--compute", options->computeMicros, "Microseconds that workers compute in a step")
      ->check(CLI::Range(0, 60'000'000))
      ->capture_default_str();
  command->add_option("--model", options->modelBytes, "Bytes of the model")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->capture_default_str();
  command->add_option("--link", options->bytesPerSecond, "Bytes a second of every host's link")
      ->check(CLI::Range(std::int64_t{1'000}, std::int64_t{1} << 40))
      ->capture_default_str();
  command->add_option("--turn", options->turnMicros, "Microseconds of a turn")
      ->check(CLI::Range(std::int64_t{1'000'000}, std::int64_t{1} << 40))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "For what varies")->capture_default_str();
  command->callback([options, run] {
    run([options] {
      std::cout << replay::tensorLightsTable(*options, replay::tensorLightsPlacements());
      return 0;
    });
  });
}

}  // namespace trainyard::cli
