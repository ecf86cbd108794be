#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/ledger/what_if.h"
#include "core/place/place.h"
#include "model/snapshot.h"

namespace trainyard::core {

// What is kept for the first job that has to wait (EASY backfilling: Mu'alem and Feitelson, "Utilization,
// Predictability, Workloads, and User Runtime Estimates in Scheduling the IBM SP2 with Backfilling", TPDS
// 2001, section 2).
//
// Assumes: a gang ends when its estimate says, counted from when it got its places, or from now on while it
// still gets them; what is going away (a gang that is deleted or stopped, an attempt that is given up) is
// gone after kLeastOverrun. One that has outrun its estimate ends after as long again as it has outrun it, at
// least kLeastOverrun: whoever is a second late will be done in moments, and the longer it takes the less is
// known. (Lost: it may run for ever. Then half a second too much gives the reserved places to somebody who
// keeps them for hours.) One without estimate does.
inline constexpr std::chrono::seconds kLeastOverrun{10};

// A gang that runs, when it is expected to end, and the room that this leaves.
struct Ending {
  base::WallTime at{};
  const model::Job* job = nullptr;
  NodeAmounts holds = {};
};
// Of all that tell; the earlier first, then by namespace and name.
[[nodiscard]] std::vector<Ending> endings(const model::Snapshot& snapshot, const Ledger& ledger);
// Adds a gang that starts at `from` on these places, if it gives an estimate.
void addEnding(std::vector<Ending>& endings, const model::Job& job,
               const std::vector<model::Assignment>& places, base::WallTime from, const Ledger& ledger);

class Reservation {
 public:
  // Finds the earliest time at which `request` fits when running gangs end by their estimates, and its places
  // then; none when they do not tell. The ledger is as it was afterwards.
  Reservation(const PlaceRequest& request, const std::vector<Ending>& endings, Ledger& ledger,
              const Domains& domains);

  [[nodiscard]] std::optional<base::WallTime> start() const { return start_; }
  // Empty without a start.
  [[nodiscard]] const std::vector<model::Assignment>& places() const { return places_; }
  // The nodes that the reserved places are on.
  [[nodiscard]] std::vector<model::NodeName> nodes(const Ledger& ledger) const;
  // Whether members on these places, already taken from the ledger, leave the reserved places their room.
  [[nodiscard]] bool leavesRoom(const Ledger& ledger, const std::vector<model::Assignment>& places) const;

 private:
  std::optional<base::WallTime> start_;
  std::vector<model::Assignment> places_;
  // Free at the reserved time beyond what is free now, less what the head takes.
  std::map<std::size_t, model::Resources> spare_;
};

// When a placed gang ends by its estimate, be that over already; nothing without one.
[[nodiscard]] std::optional<base::WallTime> estimatedEnd(const model::Job& job);
// The same for one that has outrun its estimate, too: later than `now`.
[[nodiscard]] std::optional<base::WallTime> expectedEnd(const model::Job& job, base::WallTime now);

}  // namespace trainyard::core
