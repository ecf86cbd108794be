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

// How likely jobs of a cluster are to end soon, by what others of their kind took
// (core/order/gittins_index.h). Assumes that who knows three ended runs of the narrow kind need not look at
// the wide one. What runs at the moment counts too: a kind is not short because its long ones have not ended
// yet.
class RunTimeModel {
 public:
  // Costs nothing until somebody asks. Both outlive this; `live` is brought up to the snapshot then.
  RunTimeModel(const model::Snapshot& snapshot, LiveRuns& live) : snapshot_(snapshot), live_(live) {}

  // Chance of ending per second of running, as gittinsIndex(). Jobs of a kind that were submitted in the same
  // ten minutes count as submitted together, so that thousands of them are one question.
  [[nodiscard]] double rate(const model::Job& job);
  // What is asked of one that waits: the same until the job changes.
  struct Question {
    std::array<LiveRuns::Kind, 2> kinds{};  // the narrower first
    base::WallTime submitted{};             // rounded
    std::int64_t ran = 0;                   // seconds
  };
  [[nodiscard]] Question questionOf(const model::Job& job);
  // The same of a job that waits, whose question it is.
  [[nodiscard]] double rate(const Question& question, const model::Job& job);
  // model::gangGpus of the job.
  [[nodiscard]] std::int64_t gpusOf(const model::Job& job);
  // How much longer the job runs by what others of its kind took: the time by which so many of a thousand
  // such jobs have ended (core/order/remaining_time.h). Of the narrowest kind that tells; nothing when none
  // does.
  [[nodiscard]] std::optional<std::chrono::seconds> remaining(const model::Job& job, int permille);

 private:
  using Kind = LiveRuns::Kind;
  using Past = std::vector<model::PastRun>;
  [[nodiscard]] const Past* pastOf(const model::Job& job, Kind kind, std::size_t which);
  // The kind by which the question is answered, and its past.
  [[nodiscard]] std::pair<Kind, const Past*> telling(const Question& question, const model::Job& job);
  // Valid until it is called again.
  [[nodiscard]] const std::vector<KnownRun>& others(Kind kind, const Past* past, base::WallTime submitted,
                                                    const model::Job& self);

  const model::Snapshot& snapshot_;
  LiveRuns& live_;
  std::unordered_map<Kind, const Past*> past_;  // null: nothing is known
  // What those have in common whose rate is one question: kind, submission rounded, seconds they ran.
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
