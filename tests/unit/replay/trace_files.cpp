#include "unit/replay/trace_files.h"

#include "base/file.h"

namespace trainyard::replay::testing {

base::Result<std::string> readFile(const std::string& path) { return base::readFile(path); }

ReplayResult replay(const ReplayOptions& options) {
  const auto result = runReplay(options, {.readFile = readFile});
  INFO((result ? "" : result.error().message));
  REQUIRE(result);
  return *result;
}

}  // namespace trainyard::replay::testing
