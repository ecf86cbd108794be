#pragma once

#include <optional>
#include <vector>

#include "core/order/gittins_index.h"

namespace trainyard::core {

// How much longer a job runs that has run for `ran` seconds, in seconds: the time by which `part` (of 1) of
// such jobs have ended. Nothing where the others do not tell.
//
// Assumes what gittinsIndex() does, but that nothing is known of jobs that nobody saw: who asks says what to
// expect then. Steps: 1 each of the others that ran longer weighs less the further apart it was submitted; 2
// the chance to run on (Kaplan and Meier 1958), live ones censored; 3 the first end at which it has fallen to
// 1 - part. Where the longest known run is still
// going on, that long at least. Ties: none.
[[nodiscard]] std::optional<double> remainingTime(const std::vector<KnownRun>& others, double ran,
                                                  double part);

}  // namespace trainyard::core
