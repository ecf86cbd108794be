#include <algorithm>
#include <variant>

#include "fuzz/targets.h"
#include "scenario/scenario_file.h"

namespace trainyard::fuzz {

void scenario(std::string_view input) {
  const auto scenario = test::parseScenario("file", input);
  if (!scenario) return require(scenario.error().message.starts_with("file:"), "a refusal names the file");
  const bool expects = std::any_of(
      scenario->steps.begin(), scenario->steps.end(),
      [](const test::Step& step) { return std::holds_alternative<test::Expectation>(step.what); });
  require(!scenario->title.empty() && expects, "a scenario expects something");
}

}  // namespace trainyard::fuzz
