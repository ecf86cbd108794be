#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/place/gang_placer.h"
#include "core/timeline/ends.h"

namespace trainyard::core {

// When, where, and who has ended by then: indices into Ends::all().
struct EarliestFit {
  ExpectedTime time;
  Placement placement;
  std::vector<std::size_t> ended = {};
  bool awaitsStrays = false;  // pods of no record have to be gone first
};

// The earliest moment at which a gang that has no places now would have them: when others have ended
// (core/timeline/ends.h), or when it may be placed wider, whichever comes first. Nothing when it would not
// even when all have ended, or when the cycle's budget does not suffice to know. Pods that are going away and
// that no record has (of jobs that are gone, or wait again) are gone after kLeastOverrun; they are looked at
// only where it would not fit otherwise.
//
// Assumes that what ends makes room only. Steps: the number of moments that must pass, by doubling, then by
// halving: what is asked grows with how far ahead the answer lies. Its basis is the weakest of those
// moments'. The ledger is as it was afterwards.
[[nodiscard]] std::optional<EarliestFit> earliestFit(const model::Job& job,
                                                     const std::vector<GangPlacer::Widening>& widenings,
                                                     std::size_t widestNow, Ledger& ledger, Ends& ends,
                                                     GangPlacer& placer);

}  // namespace trainyard::core
