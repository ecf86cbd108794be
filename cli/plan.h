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
  std::string profile = {};         // file; in place of spec.plan.model
  std::string measurements = {};    // file; in place of the profile's
  std::int64_t batch = 0;           // in place of what the profile says
  std::int64_t batchPerWorker = 0;  // likewise
};

struct JobShapes {
  model::Job job;
  core::JobPlanning planning;
  model::ModelProfile profile;
};

// The shapes for the one TrainingJob among the manifests, in a cluster as the snapshot shows it. Errors name
// file and field.
[[nodiscard]] base::Result<JobShapes> planShapes(const std::vector<Manifest>& manifests,
                                                 const PlanOptions& options, const std::string& ns,
                                                 const model::Snapshot& snapshot);

// Nodes for a plan without a cluster: "16x4:Tesla-T4@25": 16 nodes with 4 GPUs of that type and 25 Gbit/s;
// type and network may be left out. `first` numbers them on. kInvalid says what it should look like.
[[nodiscard]] base::Result<std::vector<model::Node>> parseNodes(const std::string& text, std::size_t first);

// A file of Nodes, as `kubectl get nodes -o yaml` writes it.
[[nodiscard]] base::Result<std::vector<model::Node>> readNodes(const std::string& file);

// The text of a manifest's file with the winner's numbers of members in place of what stood there. kInvalid
// where a role's replicas are not written.
[[nodiscard]] base::Result<std::string> writtenInto(const std::string& text, const Manifest& manifest,
                                                    const model::ShapePlan& plan);

// For people, the best `most` of them; and all of them, {"job":…,"candidates":[…]}.
[[nodiscard]] std::string shapesText(const JobShapes& shapes, std::size_t most);
[[nodiscard]] std::string shapesJson(const JobShapes& shapes);

}  // namespace trainyard::cli
