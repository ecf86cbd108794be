// Runs scenario files and prints the differences from their expectations.
#include <cstdio>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "scenario/scenario_file.h"
#include "scenario/scenario_outcome.h"

namespace {

using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

bool runFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    fmt::print("{}: cannot be read\n", path);
    return false;
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto scenario = parseScenario(path, text);
  if (!scenario) {
    fmt::print("{}\n", scenario.error().message);
    return false;
  }
  fmt::print("{}: {}\n", path, scenario->title);
  try {
    return scenario->inTime ? runInTime(*scenario) : runMoment(*scenario);
  } catch (const Nonsense& nonsense) {
    fmt::print("{}\n", nonsense.what);
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: scenario_runner FILE.scenario …\n");
    return 2;
  }
  bool good = true;
  for (int i = 1; i < argc; ++i) good = runFile(argv[i]) && good;
  return good ? 0 : 1;
}
