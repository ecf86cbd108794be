#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace trainyard::cli {

// Columns as wide as their widest cell, three spaces apart, without trailing spaces; a line for each row.
[[nodiscard]] std::string formatTable(std::vector<std::vector<std::string>> rows);

// Formats an age as kubectl does: "45s", "12m", "3h20m", "5d". Future times count as now.
[[nodiscard]] std::string formatAge(base::WallTime since, base::WallTime now);

// Replaces ages in a text, so that two texts are equal unless more than time has passed.
[[nodiscard]] std::string withoutAges(const std::string& text);

// Returns "40 GPU seconds", "12 GPU minutes", "3.5 GPU hours".
[[nodiscard]] std::string formatWork(std::int64_t gpuSeconds);

}  // namespace trainyard::cli
