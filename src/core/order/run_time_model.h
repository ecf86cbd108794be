#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/order/gittins_index.h"
#include "model/snapshot.h"

namespace trainyard::core {

// How likely jobs of a cluster are to end soon, by what others of their kind took
// (core/order/gittins_index.h). Assumes that who knows three ended runs of the narrow kind need not look at
// the wide one. What runs at the moment counts too: a kind is not short because its long ones have not ended
// yet.
class RunTimeModel {
 public:
  // `snapshot` outlives this. Costs nothing until somebody asks.
  explicit RunTimeModel(const model::Snapshot& snapshot) : snapshot_(snapshot) {}

  // Chance of ending per second of running, as gittinsIndex(). Jobs of a kind that were submitted in the same
  // ten minutes count as submitted together, so that thousands of them are one question.
  [[nodiscard]] double rate(const model::Job& job);
  // How much longer the job runs by what others of its kind took: the time by which so many of a thousand
  // such jobs have ended (core/order/remaining_time.h). Of the narrowest kind that tells; nothing when none
  // does.
  [[nodiscard]] std::optional<std::chrono::seconds> remaining(const model::Job& job, int permille);

 private:
  // One that has not ended: it runs, waits to go on, or has never run.
  struct Live {
    base::WallTime submitted{};
    std::chrono::seconds ran{0};
    const model::Job* job = nullptr;
  };
  using Kind = std::uint64_t;  // kindNumbersOf()
  using Past = std::vector<model::PastRun>;
  [[nodiscard]] const Past* pastOf(const model::Job& job, Kind kind, std::size_t which);
  void listLive();
  [[nodiscard]] std::vector<KnownRun> others(Kind kind, const Past* past, base::WallTime submitted,
                                             const model::Job& self) const;
  [[nodiscard]] double compute(Kind kind, const Past* past, base::WallTime submitted, double ran,
                               const model::Job& self) const;

  const model::Snapshot& snapshot_;
  bool listed_ = false;
  std::unordered_map<Kind, std::vector<Live>> live_;  // sorted by submission
  std::unordered_map<Kind, const Past*> past_;        // null: nothing is known
  std::map<std::tuple<Kind, std::int64_t, std::int64_t>, double> waiting_;
};

}  // namespace trainyard::core
