#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/ledger/ledger.h"
#include "core/order/live_runs.h"
#include "core/place/gpu_types.h"
#include "core/place/job_notes.h"
#include "core/place/node_refusals.h"
#include "core/place/place.h"
#include "core/planner.h"
#include "model/job.h"
#include "model/snapshot.h"

namespace trainyard::core {

// What one scheduling leaves to the next: answers that hold as long as no node's room has changed. They
// change no decision. Assumes what CycleCache assumes.
class PlacementCache {
 public:
  // A shape (core/place/shape_key.h) and how wide it may be placed.
  using Question = std::pair<std::uint32_t, std::size_t>;
  // Jobs with the same message: their queue, shape, how wide they may be placed, when the next wider level
  // will do, and which, and their priority where jobs take time slices.
  using Words =
      std::tuple<std::size_t, std::uint32_t, std::size_t, std::optional<base::WallTime>, std::size_t, int>;

  // First in a cycle: forgets what does not hold for this state of the ledger.
  void begin(const Ledger& ledger);
  // First in a schedule: forgets whose jobs are whose, where queues or priorities have changed.
  void followQueues(const model::Snapshot& snapshot);
  // Last in a cycle: forgets shapes, once many more are known than there are jobs.
  void end(std::size_t jobs);
  // Another network: nothing holds any more.
  void clear();

  // The same number for jobs of the same shape; others for others, until end() or clear(). `position` is the
  // job's in the list that `notes` follow.
  [[nodiscard]] std::uint32_t shapeOf(const model::Job& job, std::size_t position);

  // The same number for jobs of the same shape's pool of nodes (poolKey()); others for others, as above.
  [[nodiscard]] std::uint32_t poolOf(const model::Job& job, std::uint32_t shape);

  // Of the snapshot's nodes.
  [[nodiscard]] const GpuTypes& gpuTypes(const model::Snapshot& snapshot);

  // Whether a shape had no places in this very state of the ledger.
  [[nodiscard]] bool failed(const Question& question, const Ledger& ledger) const;
  void remember(const Question& question, const Ledger& ledger) { failures_[question] = stateOf(ledger); }

  // Why a shape has no places, in this very state of the ledger; nullptr: nobody asked.
  [[nodiscard]] std::shared_ptr<const PlacementFailure> failure(const Question& question,
                                                                const Ledger& ledger) const;
  void remember(const Question& question, const Ledger& ledger,
                std::shared_ptr<const PlacementFailure> failure) {
    reasons_[question] = {stateOf(ledger), std::move(failure)};
  }

  // Follow the snapshot's jobs.
  JobNotes notes = {};
  // Follow its nodes.
  NodeRefusals refusals = {};

  // Of the snapshot's jobs.
  LiveRuns liveRuns = {};

  // Where the last cycle stopped searching, its budget spent: the first job that it did not reach.
  std::optional<model::ObjectKey> unreached = std::nullopt;
  // The same of those whose users ask for more members (core/cycle/user_scale.h).
  std::optional<model::ObjectKey> notScaled = std::nullopt;
  // The last job whose shape was chosen: the next one in the order of keys follows.
  std::optional<model::ObjectKey> plannedLast = std::nullopt;

  // Of its jobs' profiles.
  FitCache fits = {};

  // What they were told last.
  std::map<Words, std::shared_ptr<const model::Pending>> told = {};

  // Levels that shapes could have on an empty cluster: tightestAttainable().
  std::map<std::uint32_t, std::size_t> attainable = {};
  // Whether shapes can start at all, and gangs smaller than their wish: GangPlacer::mayEverStart().
  std::map<std::pair<std::uint32_t, bool>, bool> mayEverStart = {};

 private:
  // Of the ledger: what it follows, and how much was taken since.
  using State = std::pair<std::uint64_t, std::uint64_t>;
  [[nodiscard]] static State stateOf(const Ledger& ledger) { return {ledger.version(), ledger.takes()}; }

  std::uint64_t version_ = 0;
  std::uint64_t versionWithoutJobs_ = 0;
  model::SharedList<model::Node> typedNodes_;
  std::optional<GpuTypes> gpuTypes_;
  // By what the notes' Asks went.
  model::SharedList<model::Queue> queues_;
  model::SharedList<model::PriorityClass> priorityClasses_;
  model::SharedList<model::Namespace> namespaces_;
  std::unordered_map<std::string, std::uint32_t> shapes_;
  std::unordered_map<std::string, std::uint32_t> pools_;
  std::unordered_map<std::uint32_t, std::uint32_t> poolOfShape_;
  std::map<Question, State> failures_;
  std::map<Question, std::pair<State, std::shared_ptr<const PlacementFailure>>> reasons_;
};

}  // namespace trainyard::core
