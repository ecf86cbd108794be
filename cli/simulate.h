#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/live_cluster.h"
#include "cli/manifests.h"
#include "operator/simulation.h"

namespace trainyard::cli {

using operator_::Simulation;

struct SimulateOptions {
  std::string ns = {};          // required or default namespace of the jobs; empty: that of the context
  std::string policyFile = {};  // empty: the operator's ConfigMap, if there is one
  std::string operatorNamespace = "trainyard-system";
  std::string policyConfigMap = "trainyard-policy";  // in operatorNamespace
};

// Predicts the outcome for the TrainingJobs of the manifests, if they were created now. Writes nothing: the
// API server checks jobs and pods (job_check.h), and the operator's core (core/forecast/forecast.h) decides
// on what the operator would see. Errors name file and line.
[[nodiscard]] base::Result<Simulation> simulate(LiveCluster& cluster, const std::vector<Manifest>& manifests,
                                                const SimulateOptions& options);

// The same for users that may not read the cluster. The operator's console decides, by the
// operator's snapshot and policy, and shows only jobs that the user may read. Jobs and pods are
// checked with the user's own permissions as above.
[[nodiscard]] base::Result<Simulation> simulateByConsole(LiveCluster& cluster, LiveCluster& console,
                                                         const std::vector<Manifest>& manifests,
                                                         const std::string& ns);

}  // namespace trainyard::cli
