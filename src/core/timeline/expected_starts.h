#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/ledger/what_if.h"
#include "core/place/gang_placer.h"
#include "core/timeline/ends.h"
#include "core/timeline/reservation.h"

namespace trainyard::core {

// When those behind the reservations will start, for people: no decision rests on it (conservative
// backfilling: Mu'alem and Feitelson, TPDS 2001, section 2).
//
// Assumes: what Reservation assumes; nobody else comes, and everybody is served in the order in which he is
// asked about. Steps: each is given the earliest of the expected ends at which he fits beside all that were
// asked about before, as if these held their places from now on, until their own ends. So it is rather too
// late than too early: who comes later may be let past, but nobody is told a start that those before him take
// away. At most kMostEndings ends are looked at, and a number of placements that shrinks with the cluster, so
// that a cycle stays short; who comes after that is told nothing, and nobody is told a mere guess. Ties:
// none.
class ExpectedStarts {
 public:
  // The ledger is as it was when this ends.
  ExpectedStarts(const std::vector<Reservation>& reservations, const model::Snapshot& snapshot,
                 Ledger& ledger, Ends& ends, RunTimeModel& runs, GangPlacer& placer);

  // Jobs of equal `shape` ask for the same. Absent: nothing tells, or it would cost too much to know.
  [[nodiscard]] std::optional<base::WallTime> start(const model::Job& job, std::uint32_t shape);
  // Nobody else will be told anything.
  [[nodiscard]] bool exhausted() const { return probes_ <= 0 || endings_.empty(); }

 private:
  void hold(const model::Job& job, const std::vector<model::Assignment>& places, base::WallTime from);
  [[nodiscard]] std::optional<Placement> placeAfter(const PlaceRequest& request, std::size_t count);

  std::vector<Ending> endings_;
  const model::Snapshot& snapshot_;
  Ledger& ledger_;
  RunTimeModel& runs_;
  GangPlacer& placer_;
  WhatIf held_;                                        // by those who were asked about before
  std::map<std::uint32_t, base::WallTime> notBefore_;  // by shape: an equal one got no earlier place
  int probes_ = 0;
};

inline constexpr std::size_t kMostEndings = 256;

// The estimate to show: the one that was shown before, unless the new one differs by more than a tenth of the
// time that is left. What outruns its estimate moves everybody's with every second.
[[nodiscard]] std::optional<base::WallTime> steadyEstimate(const model::Job& job,
                                                           std::optional<base::WallTime> estimate,
                                                           base::WallTime now);

}  // namespace trainyard::core
