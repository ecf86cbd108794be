#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

namespace trainyard::model {

// The last report of a running job about its training. The contract is in docs/progress.md.
struct Progress {
  std::int64_t step = 0;
  std::optional<std::int64_t> totalSteps = std::nullopt;
  std::optional<std::int64_t> milliSamplesPerSecond = std::nullopt;  // of the whole job
  std::optional<std::int64_t> remainingSeconds = std::nullopt;       // by the job's report, or by its steps
  // Gradient noise scale in samples: the largest batch that a step still uses well.
  std::optional<std::int64_t> noiseSamples = std::nullopt;
  std::vector<std::pair<std::string, std::string>> metrics = {};  // other reported figures
  std::optional<base::WallTime> lastCheckpoint = std::nullopt;
  int replicas = 0;          // members that took part; 0: not reported
  int slowestRank = -1;      // the rank with the longest steps; -1: not reported
  int slowdownPermille = 0;  // of that rank against the median one
  base::WallTime at{};       // when it was reported
  friend bool operator==(const Progress&, const Progress&) = default;
};

}  // namespace trainyard::model
