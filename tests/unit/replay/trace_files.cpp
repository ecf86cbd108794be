#include "unit/replay/trace_files.h"

#include <fstream>
#include <sstream>

namespace trainyard::sim::testing {

base::Result<std::string> readFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return base::fail(base::ErrorCode::kInvalid, path + ": cannot be read");
  return text.str();
}

ReplayResult replay(const ReplayOptions& options) {
  const auto result = runReplay(options, {.readFile = readFile});
  INFO((result ? "" : result.error().message));
  REQUIRE(result);
  return *result;
}

}  // namespace trainyard::sim::testing
