#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/manifests.h"
#include "core/planner.h"
#include "model/job.h"
#include "model/model_profile.h"
#include "model/snapshot.h"

namespace trainyard::cli {

struct PlanOptions {
  std::string profile = {};         // file; replaces spec.plan.model
  std::string measurements = {};    // file; replaces the profile's
  std::int64_t batch = 0;           // replaces the profile's value
  std::int64_t batchPerWorker = 0;  // replaces the profile's value
};

struct JobShapes {
  model::Job job;
  core::JobPlanning planning;
  model::ModelProfile profile;
};

// Returns the shapes for the one TrainingJob of the manifests, in the
// cluster of the snapshot. Errors name file and field.
[[nodiscard]] base::Result<JobShapes> planShapes(const std::vector<Manifest>& manifests,
                                                 const PlanOptions& options, const std::string& ns,
                                                 const model::Snapshot& snapshot);

// Parses nodes for a plan without a cluster. "16x4:Tesla-T4@25": 16 nodes with 4 GPUs of that type, 25
// Gbit/s; both optional. `first`: number of the first node. kInvalid describes the format.
[[nodiscard]] base::Result<std::vector<model::Node>> parseNodes(const std::string& text, std::size_t first);

// Reads a file of Nodes, as `kubectl get nodes -o yaml` writes it.
[[nodiscard]] base::Result<std::vector<model::Node>> readNodes(const std::string& file);

// Returns the text of a manifest's file with the plan's numbers of replicas in place of the previous
// ones. kInvalid if a role has no replicas field.
[[nodiscard]] base::Result<std::string> writtenInto(const std::string& text, const Manifest& manifest,
                                                    const model::ShapePlan& plan);

// For people, the best `most` shapes; as JSON all of them, {"job":…,"candidates":[…]}.
[[nodiscard]] std::string shapesText(const JobShapes& shapes, std::size_t most);
[[nodiscard]] std::string shapesJson(const JobShapes& shapes);

}  // namespace trainyard::cli
