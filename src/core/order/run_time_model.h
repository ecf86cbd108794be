#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/order/gittins_index.h"
#include "core/order/live_runs.h"
#include "model/snapshot.h"

namespace trainyard::core {

// How likely jobs of a cluster are to end soon, learnt from other jobs of their kind
// (core/order/gittins_index.h). Assumes that three ended runs of the narrow kind suffice, so that the wide
// one is not needed. Live runs count too: a kind is not short only because its long runs have not ended
// yet.
class RunTimeModel {
 public:
  // Does no work until the first query, which updates `live` to the snapshot. Both outlive this.
  RunTimeModel(const model::Snapshot& snapshot, LiveRuns& live) : snapshot_(snapshot), live_(live) {}

  // The key of a job's rate; that of a pending job stays valid until the job changes.
  struct Question {
    std::array<LiveRuns::Kind, 2> kinds{};  // the narrower first
    base::WallTime submitted{};             // rounded
    std::int64_t ran = 0;                   // seconds
  };
  [[nodiscard]] Question questionOf(const model::Job& job);
  // Returns the job's chance of ending per second of running, as gittinsIndex(). Jobs of a kind submitted in
  // the same ten minutes count as submitted together, so that thousands of pending ones share one result.
  [[nodiscard]] double rate(const Question& question, const model::Job& job);
  // model::gangGpus of the job.
  [[nodiscard]] std::int64_t gpusOf(const model::Job& job);
  // Returns how much longer the job runs, learnt from its kind: the time by which `permille` of a thousand
  // such jobs have ended (core/order/remaining_time.h). It uses the narrowest kind with enough runs; nullopt
  // if no kind has enough.
  [[nodiscard]] std::optional<std::chrono::seconds> remaining(const model::Job& job, int permille);

 private:
  using Kind = LiveRuns::Kind;
  using Past = std::vector<model::PastRun>;
  [[nodiscard]] const Past* pastOf(const model::Job& job, Kind kind, std::size_t which);
  // Returns the kind that answers the question, and its past runs.
  [[nodiscard]] std::pair<Kind, const Past*> selectKind(const Question& question, const model::Job& job);
  // Valid until the next call.
  [[nodiscard]] const std::vector<KnownRun>& others(Kind kind, const Past* past, base::WallTime submitted,
                                                    const model::Job& self);

  const model::Snapshot& snapshot_;
  LiveRuns& live_;
  std::unordered_map<Kind, const Past*> past_;  // null: no past runs
  // The key under which jobs share one rate: kind, rounded submission, seconds they ran.
  struct Together {
    Kind kind = 0;
    std::int64_t submitted = 0;
    std::int64_t ran = 0;
    friend bool operator==(const Together&, const Together&) = default;
  };
  struct HashOfTogether {
    std::size_t operator()(const Together& each) const {
      constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
      return (each.kind + static_cast<std::uint64_t>(each.submitted)) * kOdd ^
             static_cast<std::uint64_t>(each.ran);
    }
  };
  std::unordered_map<Together, double, HashOfTogether> waiting_;
  std::vector<KnownRun> others_;
};

}  // namespace trainyard::core
