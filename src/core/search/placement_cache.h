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
#include "core/place/node_refusals.h"
#include "core/place/place.h"
#include "core/planner.h"
#include "core/search/gpu_types.h"
#include "core/search/job_notes.h"
#include "model/job.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Passes placement results from one cycle to the next that hold while no node's free capacity changes. They
// change no decision. Assumes what CycleCache assumes.
class PlacementCache {
 public:
  // A shape (core/place/shape_key.h) and how wide it may be placed.
  using Question = std::pair<std::uint32_t, std::size_t>;
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

  // The same number for jobs of the same shape, and different ones for different shapes, until end() or
  // clear(). `position`: of the job in the list that `notes` follow.
  [[nodiscard]] std::uint32_t shapeOf(const model::Job& job, std::size_t position);

  // The same number for jobs with the same node pool (poolKey()), different ones otherwise, as above.
  [[nodiscard]] std::uint32_t poolOf(const model::Job& job, std::uint32_t shape);

  // The types of the snapshot's nodes.
  [[nodiscard]] const GpuTypes& gpuTypes(const model::Snapshot& snapshot);

  // Whether a shape did not fit in this state of the ledger.
  [[nodiscard]] bool failed(const Question& question, const Ledger& ledger) const;
  void remember(const Question& question, const Ledger& ledger) { failures_[question] = stateOf(ledger); }

  // Why a shape does not fit in this state of the ledger; nullptr: not computed.
  [[nodiscard]] std::shared_ptr<const PlacementFailure> failure(const Question& question,
                                                                const Ledger& ledger) const;
  void remember(const Question& question, const Ledger& ledger,
                std::shared_ptr<const PlacementFailure> failure) {
    reasons_[question] = {stateOf(ledger), std::move(failure)};
  }

  // Match the snapshot's jobs.
  JobNotes notes = {};
  // Match its nodes.
  NodeRefusals refusals = {};

  // The runs of the snapshot's jobs.
  LiveRuns liveRuns = {};

  // Where the last cycle exhausted its budget: the first job that it did not reach.
  std::optional<model::ObjectKey> unreached = std::nullopt;
  // As above, for jobs with users that request more members (core/elastic/user_scale.h).
  std::optional<model::ObjectKey> notScaled = std::nullopt;
  // The last job that got a shape: the next cycle continues after it, in the order of keys.
  std::optional<model::ObjectKey> plannedLast = std::nullopt;

  // The fits of its jobs' profiles.
  FitCache fits = {};

  // The last message of each group of jobs.
  std::map<MessageKey, std::shared_ptr<const model::Pending>> reported = {};

  // The level that each shape could have on an empty cluster: tightestAttainable().
  std::map<std::uint32_t, std::size_t> attainable = {};
  // Whether a shape can start at all, and with smaller gangs than desired: GangPlacer::mayEverStart().
  std::map<std::pair<std::uint32_t, bool>, bool> mayEverStart = {};

 private:
  // The state of the ledger: its version, and how much was taken since.
  using State = std::pair<std::uint64_t, std::uint64_t>;
  [[nodiscard]] static State stateOf(const Ledger& ledger) { return {ledger.version(), ledger.takes()}; }

  std::uint64_t version_ = 0;
  std::uint64_t versionWithoutJobs_ = 0;
  model::SharedList<model::Node> typedNodes_;
  std::optional<GpuTypes> gpuTypes_;
  // The inputs of the notes' Asks.
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
