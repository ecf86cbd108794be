#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

namespace trainyard::model {

// What a running job says of its own training: its last report. The contract is in docs/progress.md.
struct Progress {
  std::int64_t step = 0;
  std::optional<std::int64_t> totalSteps = std::nullopt;
  std::optional<std::int64_t> milliSamplesPerSecond = std::nullopt;  // of the whole job
  std::optional<std::int64_t> remainingSeconds = std::nullopt;       // as the job sees it, or by its steps
  // Gradient noise scale in samples: of how large a batch a step still makes good use.
  std::optional<std::int64_t> noiseSamples = std::nullopt;
  std::vector<std::pair<std::string, std::string>> metrics = {};  // other figures, as reported
  std::optional<base::WallTime> lastCheckpoint = std::nullopt;
  int replicas = 0;          // members that took part; 0: not said
  int slowestRank = -1;      // whose steps take longest; -1: not said
  int slowdownPermille = 0;  // of that rank against the median one
  base::WallTime at{};       // when it was reported
  friend bool operator==(const Progress&, const Progress&) = default;
};

}  // namespace trainyard::model
