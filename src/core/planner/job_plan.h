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

// What a plan may count on.
struct PlanningRoom {
  struct Each {
    const model::Node* node = nullptr;
    model::Resources room;  // whoever trains there may go; what else runs stays
  };
  std::vector<Each> nodes;
  std::string gpuTypeLabel;
  bool mixGpuTypes = false;
  // What the job's queue, or one above it, may ever have of something.
  struct Limit {
    std::string resource;  // in the queue's words
    std::int64_t most = 0;
    std::map<std::string, std::int64_t> each = {};  // of one member, by role
    std::string gpuType = {};                       // counts members on nodes of it alone; empty: all
  };
  std::vector<Limit> limits = {};
};

// The roles whose sizes are planned. Chiefs and masters train as well, and stay as many as they are.
struct PlannedRoles {
  const model::Role* workers = nullptr;
  const model::Role* servers = nullptr;  // none: all-reduce
  int otherWorkers = 0;
};

struct JobPlanning {
  std::string problem;               // why there is no plan; empty when there is one
  std::vector<PlannedShape> shapes;  // best first
  Coefficients coefficients;
  TrainingModel model;
  PlannedRoles roles;
  bool measured = false;  // coefficients were fitted to measured steps
};

// `worker`, else the elastic role, else the first with GPUs, else the first; `ps` or `server` where there is
// one and the profile does not speak of all-reduce.
[[nodiscard]] PlannedRoles plannedRoles(const model::Job& job, const model::ModelProfile& profile);

// The shapes in which a job may run on these nodes, and how fast, by what its profile knows. Assumes that
// whatever other jobs hold may become free: a plan is for the whole run, not for the gap of the moment; so
// equal jobs get equal plans. Sizes keep within spec.plan.maxGPUs, spec.elastic, the queue and the batch.
//
// Types of GPUs: their speeds are the profile's, else in the ratio of what vendors say (hardware.h). A
// node's network is what its label trainyard.dev/network-gbps says, else 10 Gbit/s.
[[nodiscard]] JobPlanning planJob(const model::Job& job, const model::ModelProfile& profile,
                                  const PlanningRoom& room);

// What the profile lacks to plan with, naming the field; empty when it suffices.
[[nodiscard]] std::string missingIn(const model::ModelProfile& profile);
// Bytes a second of the node's network.
[[nodiscard]] double nicOf(const model::Node& node);

// What the nodes have without any TrainingJob, and what the job's queue allows: the limits of every resource
// and type of GPU up its whole path, and of a job that cannot be stopped what other queues are not
// guaranteed.
[[nodiscard]] PlanningRoom planningRoom(const model::Job& job, const Ledger& ledger, const QueueTree& queues,
                                        const model::Policy& policy);

// Coefficients and model alone, for a profile and its pools. `gpusPerWorker` of 0: workers of so many
// `cores`.
struct FittedProfile {
  TrainingModel model;
  Coefficients coefficients;
};
[[nodiscard]] FittedProfile fitProfile(const model::ModelProfile& profile, bool parameterServers,
                                       std::int64_t gpusPerWorker, double cores,
                                       std::vector<NodePool>& pools);

// What status.plan says of the first shape: sizes of the roles, and in a sentence why.
[[nodiscard]] model::ShapePlan shapePlanOf(const model::Job& job, const JobPlanning& planning,
                                           base::WallTime now);

// Whether the operator is to choose the job's shape: spec.plan.mode Auto, and not chosen yet for this spec.
// Not of one that has places, which keeps the shape that it has them for.
[[nodiscard]] bool wantsShape(const model::Job& job);

// What its spec lacks for that, naming the field; empty when it suffices.
[[nodiscard]] std::string missingToPlan(const model::Job& job);
// Without roles where no shape fits: the job then runs as its spec says.
[[nodiscard]] model::ShapePlan decideShape(const model::Job& job, const Ledger& ledger,
                                           const QueueTree& queues, const model::Snapshot& snapshot);

// "limited by the network: 0.21 s computation, 0.35 s exchange".
[[nodiscard]] std::string stepWords(const StepPrediction& step);
// "4 workers on 2 nodes of T4".
[[nodiscard]] std::string shapeWords(const PlannedShape& shape);

}  // namespace trainyard::core
