#pragma once

#include <string>

#include <catch2/catch.hpp>

#include "replay/run.h"

namespace trainyard::replay::testing {

[[nodiscard]] base::Result<std::string> readFile(const std::string& path);

// With files; the test fails where it cannot be done.
[[nodiscard]] ReplayResult replay(const ReplayOptions& options);

}  // namespace trainyard::replay::testing
