#pragma once

#include <string>

namespace trainyard::cli {

// What the failures of a large cluster cost when every failed job is tried three times more, and what they
// cost by our classes' actions: a table in Markdown, from the counts and run times of Table 7 of "Analysis of
// Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads" (ATC 2019).
[[nodiscard]] std::string phillyTable();

}  // namespace trainyard::cli
