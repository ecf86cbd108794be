#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/live_cluster.h"
#include "cli/manifests.h"
#include "model/job.h"
#include "operator/console/tried_jobs.h"

namespace trainyard::cli {

// A TrainingJob of the files, as the API server would create it.
struct CheckedJob {
  model::Job job;
  operator_::console::TriedJob tried;  // the same as JSON, with a pod for each role
};

// Checks the TrainingJobs of the manifests, and a pod of each role, with dryRun=All, as creations with the
// user's own permissions. `ns`: the required or default namespace of the jobs; empty: that of the context.
// `notes` receives what could not be checked. Errors name file and line.
[[nodiscard]] base::Result<std::vector<CheckedJob>> checkJobs(LiveCluster& cluster,
                                                              const std::vector<Manifest>& manifests,
                                                              const std::string& ns,
                                                              std::vector<std::string>& notes);

}  // namespace trainyard::cli
