#include "fuzz/targets.h"
#include "sim/api/json.h"

namespace trainyard::fuzz {

// Files of resource definitions and examples.
void yaml(std::string_view input) {
  const auto documents = sim::parseYaml(std::string(input));
  if (!documents) return require(!documents.error().message.empty(), "a refusal says why");
  for (const sim::Json& document : *documents) {
    require(sim::parseJson(sim::dumpJson(document)).has_value(), "what was read is JSON");
  }
}

}  // namespace trainyard::fuzz
