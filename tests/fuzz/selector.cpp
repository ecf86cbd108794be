#include "fuzz/targets.h"
#include "sim/api/selectors.h"

namespace trainyard::fuzz {

// A line of labels, then a line of fields.
void selector(std::string_view input) {
  static const sim::Json kObject = sim::Json::parse(
      R"({"metadata":{"name":"n","labels":{"a":"b","n":"5","x.io/y":"z"}},"spec":{"nodeName":"n1"}})");
  const auto [labels, fields] = splitAtNewline(input);
  const auto selector =
      sim::Selector::parse(std::string(labels), std::string(fields), {"metadata.name", "spec.nodeName"});
  if (!selector) return require(selector.error().code == 400, "what cannot be read is a bad request");
  const bool matched = selector->matches(kObject);
  require(!selector->empty() || matched, "an empty selector matches everything");
}

}  // namespace trainyard::fuzz
