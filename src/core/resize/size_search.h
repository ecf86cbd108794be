#pragma once

#include <cstdint>
#include <vector>

#include "core/resize/size_problem.h"

namespace trainyard::core {

struct SizeChoice {
  std::vector<int> sizes;   // by job
  std::int64_t value = 0;   // what they are worth, less what the changes cost
  std::int64_t before = 0;  // what the present sizes are worth
  std::int64_t bound = 0;   // boundOf(): no other sizes are worth more
  std::int64_t loss = 0;    // fairnessLoss()
  int touched = 0;          // jobs with another size than before
};

// Sizes that are worth the most, as far as it is found within the work that is allowed.
//
// Assumes: members that are there stay where they are; a job grows wherever there is room and shrinks from
// its last member. Steps: 1 as long as anything is gained, the rise with the most gain for its share of what
// is free (a whole rise of the concave hull, where the last one does not fit as much of it as does); 2 sizes
// of two and of three jobs at a time are chosen anew, all combinations, each job whose rise found no room
// with each that could give some, until nothing is gained or the work is done; of up to kAllAtOnce jobs all
// together. What is found first counts; whenever it stops, it has kept to all bounds (anytime). Ties: the
// earlier job, the smaller change. (Lost: exact search. It is a packing problem, NP-hard, and a cycle has
// milliseconds; on random small cases this comes within a thousandth of it, tests/property.)
//
// `work`: how many servers may be looked at.
[[nodiscard]] SizeChoice chooseSizes(const SizeProblem& problem, std::int64_t work = 4'000'000);

inline constexpr std::size_t kAllAtOnce = 4;

}  // namespace trainyard::core
