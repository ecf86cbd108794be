#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/live_cluster.h"
#include "cli/manifests.h"
#include "core/cycle/simulate.h"

namespace trainyard::cli {

struct SimulateOptions {
  std::string ns = {};          // that jobs must have, or are given; empty: that of the context
  std::string policyFile = {};  // empty: the operator's ConfigMap, where there is one
  std::string operatorNamespace = "trainyard-system";
  std::string policyConfigMap = "trainyard-policy";  // in it
};

struct Simulation {
  std::vector<core::Forecast> forecasts;  // in the order of the manifests
  base::WallTime now{};
  std::string policy;              // where it came from
  std::vector<std::string> notes;  // what the answers leave out
};

// What would become of the TrainingJobs among the manifests, were they created now. Writes nothing: the API
// server is asked to check jobs and pods with dryRun=All, as it would when they are created, and the
// operator's core (core/cycle/simulate.h) decides on what the operator would see. Errors name file and line.
[[nodiscard]] base::Result<Simulation> simulate(LiveCluster& cluster, const std::vector<Manifest>& manifests,
                                                const SimulateOptions& options);

}  // namespace trainyard::cli
