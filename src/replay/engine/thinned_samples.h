#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "replay/engine/result.h"

namespace trainyard::replay {

// Samples of the cluster over time, thinned out evenly in long replays.
class ThinnedSamples {
 public:
  void add(const ReplaySample& sample);
  // Returns the samples, followed by `last`.
  [[nodiscard]] std::vector<ReplaySample> take(const ReplaySample& last) {
    samples_.push_back(last);
    return std::exchange(samples_, {});
  }

 private:
  std::size_t stride_ = 1;  // one of so many samples is kept
  std::size_t skipped_ = 0;
  std::vector<ReplaySample> samples_;
};

}  // namespace trainyard::replay
