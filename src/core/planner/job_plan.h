#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/ledger/ledger.h"
#include "core/planner/shapes.h"
#include "core/queues/queue_tree.h"
#include "model/job.h"
#include "model/model_profile.h"
#include "model/node.h"
#include "model/policy.h"
#include "model/snapshot.h"

namespace trainyard::core {

inline constexpr double kMicro = 1e6;  // millionths of one
inline constexpr double kMilli = 1e3;  // thousandths of one

// The capacity that a plan may use.
struct PlanningCapacity {
  struct Each {
    const model::Node* node = nullptr;
    model::Resources
        available;  // capacity without any TrainingJob: training may be preempted, other pods stay
  };
  std::vector<Each> nodes;
  std::string gpuTypeLabel;
  bool mixGpuTypes = false;
  // The maximum of a resource for the job's queue, or for one above it.
  struct Limit {
    std::string resource;  // the queue's name of the resource
    std::int64_t most = 0;
    std::map<std::string, std::int64_t> each = {};  // per member, by role
    std::string gpuType = {};                       // counts only members on nodes of this type; empty: all
  };
  std::vector<Limit> limits = {};
};

// The roles that get a planned size. Chiefs and masters train as well, but their number is fixed.
struct PlannedRoles {
  const model::Role* workers = nullptr;
  const model::Role* servers = nullptr;  // none: all-reduce
  int otherWorkers = 0;
};

struct JobPlanning {
  std::string problem;               // why no plan exists; empty if one does
  std::vector<PlannedShape> shapes;  // best first
  Coefficients coefficients;
  TrainingModel model;
  PlannedRoles roles;
  bool measured = false;  // coefficients were fitted to measured steps
};

// Workers: `worker`, else the elastic role, else the first with GPUs, else the first. Servers: `ps` or
// `server`, if one exists and the profile does not set all-reduce.
[[nodiscard]] PlannedRoles plannedRoles(const model::Job& job, const model::ModelProfile& profile);

// Returns the shapes in which a job may run on these nodes, with their predicted speed by its profile.
// Assumes that capacity of other jobs may become free: a plan is for the whole run, not for the present gap,
// so equal jobs get equal plans. Sizes respect spec.plan.maxGPUs, spec.elastic, the queue and the batch.
//
// GPU types: their speeds come from the profile, else from the ratio of the vendors' figures (hardware.h).
// The speed of a node's network comes from its label trainyard.dev/network-gbps, else 10 Gbit/s.
[[nodiscard]] JobPlanning planJob(const model::Job& job, const model::ModelProfile& profile,
                                  const PlanningCapacity& available);

// Returns the field that the profile lacks for a plan; empty if it suffices.
[[nodiscard]] std::string missingIn(const model::ModelProfile& profile);
// Returns the bytes a second of the node's network.
[[nodiscard]] double nicOf(const model::Node& node);

// Returns the capacity of the nodes without any TrainingJob, with the limits of the job's queue and its
// ancestors for every resource and GPU type. A non-preemptible job is also limited to capacity outside the
// nominal quota of other queues.
[[nodiscard]] PlanningCapacity planningCapacity(const model::Job& job, const Ledger& ledger,
                                                const QueueTree& queues, const model::Policy& policy);

// Coefficients and model only, for a profile and its pools. `gpusPerWorker` 0 means workers on CPUs with
// `cores` each.
struct FittedProfile {
  TrainingModel model;
  Coefficients coefficients;
};
[[nodiscard]] FittedProfile fitProfile(const model::ModelProfile& profile, bool parameterServers,
                                       std::int64_t gpusPerWorker, double cores,
                                       std::vector<NodePool>& pools);

// Returns status.plan for the first shape: the sizes of the roles, and the reason in one sentence.
[[nodiscard]] model::ShapePlan shapePlanOf(const model::Job& job, const JobPlanning& planning,
                                           base::WallTime now);

// Returns true if the operator has to choose the job's shape: spec.plan.mode is Auto, and no shape is chosen
// for this spec yet. A placed job keeps the shape of its placement.
[[nodiscard]] bool wantsShape(const model::Job& job);

// Returns the field that its spec lacks for a plan; empty if it suffices.
[[nodiscard]] std::string missingToPlan(const model::Job& job);
// Returns a plan without roles if no shape fits: the job then runs as its spec defines.
[[nodiscard]] model::ShapePlan decideShape(const model::Job& job, const Ledger& ledger,
                                           const QueueTree& queues, const model::Snapshot& snapshot);

// "limited by the network: 0.21 s computation, 0.35 s exchange".
[[nodiscard]] std::string stepText(const StepPrediction& step);
// "4 workers on 2 nodes of T4".
[[nodiscard]] std::string shapeText(const PlannedShape& shape);

}  // namespace trainyard::core
