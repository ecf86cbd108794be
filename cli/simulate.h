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
  std::string ns = {};          // that jobs must have, or are given; empty: that of the context
  std::string policyFile = {};  // empty: the operator's ConfigMap, where there is one
  std::string operatorNamespace = "trainyard-system";
  std::string policyConfigMap = "trainyard-policy";  // in it
};

// What would become of the TrainingJobs among the manifests, were they created now. Writes nothing: the API
// server is asked to check jobs and pods (job_check.h), and the operator's core (core/cycle/simulate.h)
// decides on what the operator would see. Errors name file and line.
[[nodiscard]] base::Result<Simulation> simulate(LiveCluster& cluster, const std::vector<Manifest>& manifests,
                                                const SimulateOptions& options);

// The same for who may not read the cluster: the operator's console decides on what the operator sees, by the
// operator's policy, and tells nothing of others than he may read. Jobs and pods are checked by his own
// rights as above.
[[nodiscard]] base::Result<Simulation> simulateByConsole(LiveCluster& cluster, LiveCluster& console,
                                                         const std::vector<Manifest>& manifests,
                                                         const std::string& ns);

}  // namespace trainyard::cli
