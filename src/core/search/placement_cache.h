#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "core/ledger/ledger.h"
#include "core/order/live_runs.h"
#include "core/place/node_refusals.h"
#include "core/planner.h"
#include "core/search/empty_cluster_fits.h"
#include "core/search/gpu_types.h"
#include "core/search/job_notes.h"
#include "core/search/shape_numbers.h"
#include "core/search/unplaced_shapes.h"
#include "model/job.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Passes results from one cycle to the next. They change no decision. Assumes what CycleCache assumes.
class PlacementCache {
 public:
  // Jobs with the same message: their queue, shape, how wide they may be placed, when the next wider level is
  // permitted, and which, and their priority if time slicing applies.
  using MessageKey =
      std::tuple<std::size_t, std::uint32_t, std::size_t, std::optional<base::WallTime>, std::size_t, int>;

  // First in a cycle: drops what does not hold for this state of the ledger.
  void begin(const Ledger& ledger);
  // First in a schedule: drops the notes on queues and priorities if either have changed.
  void followQueues(const model::Snapshot& snapshot);
  // Last in a cycle: drops all shapes once there are many more of them than jobs.
  void end(std::size_t jobs);
  // The network topology has changed: drops everything.
  void clear();

  // ShapeNumbers::shapeOf(), until end() or clear(). `position`: of the job in the list that `notes` follow.
  [[nodiscard]] std::uint32_t shapeOf(const model::Job& job, std::size_t position);
  // ShapeNumbers::poolOf(), as above.
  [[nodiscard]] std::uint32_t poolOf(const model::Job& job, std::uint32_t shape) {
    return shapes_.poolOf(job, shape);
  }

  // The types of the snapshot's nodes.
  [[nodiscard]] const GpuTypes& gpuTypes(const model::Snapshot& snapshot);

  // Match the snapshot's jobs.
  JobNotes notes = {};
  // Match its nodes.
  NodeRefusals refusals = {};
  // The runs of the snapshot's jobs.
  LiveRuns liveRuns = {};
  // The fits of its jobs' profiles.
  FitCache fits = {};

  UnplacedShapes unplaced = {};
  EmptyClusterFits whenEmpty = {};
  // The last message of each group of jobs.
  std::map<MessageKey, std::shared_ptr<const model::Pending>> reported = {};

  // Where the next cycle continues, in the order of keys.
  struct Progress {
    // The first job that the last cycle did not reach, because its budget was exhausted.
    std::optional<model::ObjectKey> unreached = std::nullopt;
    // As above, for jobs with users that request more members (core/elastic/user_scale.h).
    std::optional<model::ObjectKey> notScaled = std::nullopt;
    // The last job that got a shape.
    std::optional<model::ObjectKey> plannedLast = std::nullopt;
  };
  Progress progress = {};

 private:
  // The inputs of the notes' PendingFacts.
  struct FactInputs {
    model::SharedList<model::Queue> queues;
    model::SharedList<model::PriorityClass> priorityClasses;
    model::SharedList<model::Namespace> namespaces;
  };

  ShapeNumbers shapes_;
  std::optional<GpuTypes> gpuTypes_;
  FactInputs factInputs_;
};

}  // namespace trainyard::core
