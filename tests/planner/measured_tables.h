#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace trainyard::test {

// The quality of plans that are fitted to five steps of a model, judged by all measured steps of the model.
//
// The table: placements.csv of an application of Pollux (tests/traces/pollux), 108 placements on up to four
// nodes of four GPUs, at 5 to 21 batch sizes per GPU.
//
// The fit: five measured steps, drawn again for each of `draws` trials, one each of
// one worker, at a batch of the smallest third; one worker, at one of the larger half; two to four workers
// on one node and two nodes, at a batch of the smallest third; three or four nodes, at one of the smaller
// half: communication dominates at small batches.
// With `anyFive`, five steps are drawn from the whole table without a rule.
//
// The decisions, in each trial, using only the fit, for clusters of 1, 2, 3 and 4 nodes:
// fixed batch per worker, for each measured one;
// fixed global batch, from the smallest batch per worker on in powers of two; step times between measured
// batches are interpolated.
// The first of core::rankShapes() is looked up in the table. The best is the fastest of all placements in the
// table, even one that no plan would consider.
struct TableTrials {
  std::string model;
  double meanSpeed = 0;        // of the chosen shapes relative to the best, over all decisions and trials
  double worstTrialSpeed = 0;  // mean of the worst trial
  double worstSpeed = 0;       // of a single decision
  double meanError = 0;        // |predicted / measured step - 1|, over all steps that were not fitted
  double medianError = 0;
  std::size_t decisions = 0;
};

[[nodiscard]] base::Result<TableTrials> tryTable(const std::string& model, const std::string& file,
                                                 std::string text, int draws, std::uint64_t seed,
                                                 bool anyFive);

}  // namespace trainyard::test
