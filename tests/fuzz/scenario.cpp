#include "fuzz/targets.h"
#include "scenario/scenario_file.h"

namespace trainyard::fuzz {

void scenario(std::string_view input) {
  const auto scenario = test::parseScenario("file", input);
  if (!scenario) return require(scenario.error().message.starts_with("file:"), "a refusal names the file");
  require(!scenario->title.empty() && !scenario->expectations.empty(), "a scenario expects something");
}

}  // namespace trainyard::fuzz
