#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "support/builders.h"

namespace trainyard::test {

// What a job must come to: the first line of an `expect` block and the lines below it, without indentation.
struct Expectation {
  std::string job;  // "ml/bert"
  std::string head;
  std::vector<std::string> body;
};

struct Scenario {
  std::string title;
  model::Snapshot snapshot;
  std::vector<Expectation> expectations;
};

// Reads the text of one .scenario file; docs/scenarios.md describes the format. kInvalid names file, line and
// word.
[[nodiscard]] base::Result<Scenario> parseScenario(std::string_view fileName, std::string_view text);

}  // namespace trainyard::test
