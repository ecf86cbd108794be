#pragma once

#include <cstdint>
#include <vector>

#include "core/resize/size_problem.h"

namespace trainyard::core {

struct SizeChoice {
  std::vector<int> sizes;   // by job
  std::int64_t value = 0;   // worth of the sizes minus the cost of the changes
  std::int64_t before = 0;  // worth of the present sizes
  std::int64_t bound = 0;   // boundOf(): no other sizes have a higher value
  std::int64_t loss = 0;    // fairnessLoss()
  int touched = 0;          // number of jobs that change their size
};

// Returns the sizes with the most worth that the search finds within the allowed work.
//
// Assumes: running members stay on their nodes; a job grows wherever there is free capacity and shrinks from
// its last member. Steps: 1 as long as anything is gained, apply the rise with the most gain for its share of
// free capacity (a whole rise of the concave hull, or the part of it that fits); 2 choose the sizes of two
// and three jobs at a time again, in all combinations: each job with a rise that did not fit with each that
// could give up members, until nothing is gained or the work is done; up to kAllAtOnce jobs all together. The
// first of equal results wins; whenever the search stops, it has kept all bounds (anytime). Ties: the earlier
// job, the smaller change. (Rejected: exact search. It is a packing problem, NP-hard, and a cycle has
// milliseconds; on random small cases this comes within a thousandth of it, tests/property.)
//
// `work`: the number of servers that may be tried.
[[nodiscard]] SizeChoice chooseSizes(const SizeProblem& problem, std::int64_t work = 4'000'000);

inline constexpr std::size_t kAllAtOnce = 4;

}  // namespace trainyard::core
