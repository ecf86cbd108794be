#pragma once

#include <string>

namespace trainyard::cli {

// Compares the GPU hours of failures in a large cluster, if every failed job is retried three times, with
// those by our classes' actions. Returns a table in Markdown. Counts and run times are from Table 7 of
// "Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads" (ATC 2019).
[[nodiscard]] std::string phillyTable();

}  // namespace trainyard::cli
