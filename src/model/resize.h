#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace trainyard::model {

// The speed of a job with this many members of its elastic role.
struct SpeedPoint {
  int replicas = 0;
  std::int64_t milliSamplesPerSecond = 0;  // of the whole job
  friend bool operator==(const SpeedPoint&, const SpeedPoint&) = default;
};

// The decider of the elastic role's size.
enum class SizeOwner {
  kSpec,       // spec.elastic.replicas, as written
  kCluster,    // the optimizer: free capacity is used, and shared
  kPreemption  // other jobs had a right to the capacity that it released
};

// The progress of a resize handshake with the job.
enum class ResizeStep { kNone, kCheckpointing, kDraining, kResizing, kRestoring };

// status.resize: the sizes of a job. Only the gang record has its actual members.
struct ResizeStatus {
  std::optional<int> desired = std::nullopt;  // members of the elastic role; absent: spec.elastic.replicas
  SizeOwner decidedBy = SizeOwner::kSpec;
  std::string message;  // the reason for this size, in one sentence
  ResizeStep step = ResizeStep::kNone;
  std::optional<base::WallTime> deadline = std::nullopt;  // of that step
  std::optional<base::WallTime> cooldownUntil =
      std::nullopt;                                // no automatic resize of the job before this time
  std::int64_t count = 0;                          // completed resizes
  std::vector<std::int64_t> lastPauseMillis = {};  // without training, newest first, at most 8
  std::vector<SpeedPoint> speeds = {};             // measured, by size
  friend bool operator==(const ResizeStatus&, const ResizeStatus&) = default;
};

}  // namespace trainyard::model
