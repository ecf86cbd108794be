#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/search/gang_placer.h"
#include "core/timeline/ends.h"

namespace trainyard::core {

// When the gang fits, where, and which gangs have ended by then (indices into Ends::all()).
struct EarliestFit {
  ExpectedTime time;
  Placement placement;
  std::vector<std::size_t> ended = {};
  bool awaitsStrays = false;  // terminating pods that no record names must be gone first
};

// The earliest time at which a gang that has no placement now has one: when others have ended
// (core/timeline/ends.h), or when it may be placed wider, whichever comes first. Empty if it does not fit
// even when all have ended, or if the budget of the cycle is exhausted. Terminating pods that no record
// names (their job is gone, or pending again) are expected to be gone after kMinOverrun. They are
// considered only if the gang does not fit otherwise.
//
// Assumes: an end only adds free capacity. Steps: find the number of moments that must pass by doubling,
// then by bisection, so that the cost grows with how far ahead the answer lies. The basis is the weakest
// of those moments. The ledger is unchanged afterwards.
[[nodiscard]] std::optional<EarliestFit> earliestFit(const model::Job& job,
                                                     const std::vector<GangPlacer::Widening>& widenings,
                                                     std::size_t widestNow, Ledger& ledger, Ends& ends,
                                                     GangPlacer& placer);

}  // namespace trainyard::core
