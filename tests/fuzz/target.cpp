#include "fuzz/targets.h"
#include "kube/percent_encoding.h"
#include "sim/api/paths.h"

namespace trainyard::fuzz {

// The in-memory server reads what the client escapes. One line is a path, the next a value of the query.
void target(std::string_view input) {
  static_cast<void>(sim::parseTarget(std::string(input)));
  const auto [path, value] = splitAtNewline(input);
  const std::string encoded =
      kube::encodeTarget("", "/x/" + std::string(path), {{"labelSelector", std::string(value)}, {"b", "1"}});
  const auto read = sim::parseTarget(encoded);
  require(read.has_value(), "what the client escapes can be read");
  require(sim::queryText(read->query, "labelSelector") == value, "a value survives being escaped");
  std::string joined;
  for (const std::string& segment : read->segments) joined += "/" + segment;
  std::string expected = "/x/" + std::string(path);
  // Empty segments are ignored.
  for (std::size_t at = 0; (at = expected.find("//", at)) != std::string::npos;) expected.erase(at, 1);
  if (expected.ends_with('/')) expected.pop_back();
  require(joined == expected, "a path survives being escaped");
}

}  // namespace trainyard::fuzz
