#pragma once

#include <string>

#include <catch2/catch.hpp>

#include "replay/run.h"

namespace trainyard::replay::testing {

[[nodiscard]] base::Result<std::string> readFile(const std::string& path);

// Runs a replay with files; the test fails if that is impossible.
[[nodiscard]] ReplayResult replay(const ReplayOptions& options);

}  // namespace trainyard::replay::testing
