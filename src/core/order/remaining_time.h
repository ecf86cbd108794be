#pragma once

#include <optional>
#include <vector>

#include "core/order/gittins_index.h"

namespace trainyard::core {

// Returns how much longer a job runs that has run for `ran` seconds, in seconds: the time by which `part` (of
// 1) of such jobs have ended. Returns nullopt if the other runs do not suffice.
//
// Assumes the same as gittinsIndex(), except for unseen jobs: they are not modelled, and the caller supplies
// its own default instead. Steps: 1 each other job that ran longer weighs less the further apart it was
// submitted; 2 the chance to run on (Kaplan and Meier 1958), with live jobs censored; 3 the first end at
// which that chance has fallen to 1 - part. If the longest known run still lives, the result is the time up
// to its present length. Ties: none.
[[nodiscard]] std::optional<double> remainingTime(const std::vector<KnownRun>& others, double ran,
                                                  double part);

}  // namespace trainyard::core
