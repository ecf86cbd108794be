#pragma once

#include <vector>

namespace trainyard::core {

// What another job teaches, in seconds.
struct KnownRun {
  double apart = 0;  // between the two submissions
  double ran = 0;
  bool ended = false;  // by itself; false: it runs still, or was stopped, and would have run longer
};

// How much a neighbour says: half of what one says that was submitted at the same time, two hours apart.
[[nodiscard]] double weightOf(const KnownRun& run);

// Chance of ending per second of running that is invested, at the best horizon, of a job that has run for
// `ran` seconds; higher is better.
//
// Assumes: jobs of one kind that were submitted one after the other run for similar times, whatever that time
// is: people submit a sweep, or the same job again. In public traces the logarithms of neighbours' run times
// correlate by 0.5 to 0.8. Run times spread over orders of magnitude. Steps: 1 of the others each weighs less
// the further apart it was submitted, and those that ended before `ran` say nothing; 2 ended ones are events,
// live ones are known to run longer still (censored); 3 a few jobs that nobody saw, at multiples of `ran`,
// stand for what is unknown; 4 estimate the chance to run on (Kaplan and Meier 1958) and from it the highest
// chance of ending per expected second over all horizons, Gittins' index (1979; for jobs of unknown length in
// Tiresias, NSDI 2019, section 3.3). Ties: none here, the index only ranks.
[[nodiscard]] double gittinsIndex(const std::vector<KnownRun>& others, double ran);

}  // namespace trainyard::core
