#pragma once

#include <vector>

namespace trainyard::core {

// What is known about the run of another job, in seconds.
struct KnownRun {
  double apart = 0;  // between the two submissions
  double ran = 0;
  bool ended = false;  // by itself; false: it still runs or was preempted, so its full run time is longer
};

// The weight of a neighbour: one submitted two hours apart counts half of one submitted at the same time.
[[nodiscard]] double weightOf(const KnownRun& run);

// Returns the chance of ending per second of running at the best horizon, for a job that has run for `ran`
// seconds. Higher is better.
//
// Assumes: jobs of one kind that are submitted one after the other run for similar times, whatever that time
// is: people submit a sweep, or the same job again. In public traces the logarithms of neighbours' run times
// correlate by 0.5 to 0.8. Run times spread over orders of magnitude. Steps: 1 each other job weighs less the
// further apart it was submitted, and jobs that ended before `ran` are ignored; 2 ended jobs are events, live
// ones are censored: they run longer still; 3 a few unseen jobs, at multiples of `ran`, stand for the
// unknown; 4 estimate the chance to run on (Kaplan and Meier 1958) and from it the highest chance of ending
// per expected second over all horizons, Gittins' index (1979; for jobs of unknown length in Tiresias, NSDI
// 2019, section 3.3). Ties: none here, the index only ranks.
[[nodiscard]] double gittinsIndex(const std::vector<KnownRun>& others, double ran);

}  // namespace trainyard::core
