#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/ledger/what_if.h"
#include "core/search/gang_placer.h"
#include "core/timeline/ends.h"
#include "core/timeline/reservation.h"

namespace trainyard::core {

// When the jobs behind the reservations are expected to start. For messages only; no decision depends on
// it (conservative backfilling: Mu'alem and Feitelson, TPDS 2001, section 2).
//
// Assumes: what Reservation assumes; no other job comes; the jobs start in the order of
// the calls. Steps: a job gets the earliest expected end at which it fits beside all
// jobs of earlier calls, as if those held their nodes from now until their own ends.
// The result is rather too late than too early: a later job may be backfilled, but no
// job gets a start that an earlier one prevents. At most kMaxEndings ends are
// considered, and a number of placements that shrinks with the cluster, so that a cycle
// stays short. Jobs after that get no start, and no job gets a guess. Ties: none.
class ExpectedStarts {
 public:
  // The destructor restores the ledger.
  ExpectedStarts(const std::vector<Reservation>& reservations, const model::Snapshot& snapshot,
                 Ledger& ledger, Ends& ends, RunTimeModel& runs, GangPlacer& placer);

  // Jobs of equal `shape` request the same. Empty if the start would be a guess, or too expensive to compute.
  [[nodiscard]] std::optional<base::WallTime> start(const model::Job& job, std::uint32_t shape);
  // Every further start() returns nothing.
  [[nodiscard]] bool exhausted() const { return probes_ <= 0 || endings_.empty(); }

 private:
  void hold(const model::Job& job, const std::vector<model::Assignment>& assignments, base::WallTime from);
  [[nodiscard]] std::optional<Placement> placeAfter(const PlaceRequest& request, std::size_t count);

  std::vector<Ending> endings_;
  const model::Snapshot& snapshot_;
  Ledger& ledger_;
  RunTimeModel& runs_;
  GangPlacer& placer_;
  WhatIf held_;                                        // by the jobs of earlier calls
  std::map<std::uint32_t, base::WallTime> notBefore_;  // by shape: an equal job got no earlier start
  int probes_ = 0;
};

inline constexpr std::size_t kMaxEndings = 256;

// The estimate to show: the previous one, unless the new one differs by more than a tenth of the remaining
// time. A job that exceeds its estimate moves the starts of all jobs behind it with every second.
[[nodiscard]] std::optional<base::WallTime> steadyEstimate(const model::Job& job,
                                                           std::optional<base::WallTime> estimate,
                                                           base::WallTime now);

}  // namespace trainyard::core
