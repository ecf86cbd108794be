#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace trainyard::model {

// How fast a job trains with so many members of its elastic role.
struct SpeedPoint {
  int replicas = 0;
  std::int64_t milliSamplesPerSecond = 0;  // of the whole job
  friend bool operator==(const SpeedPoint&, const SpeedPoint&) = default;
};

// Who chose how many members the elastic role is to have.
enum class SizeOwner {
  kSpec,       // spec.elastic.replicas, as written
  kCluster,    // the optimizer: what is free is put to use, and shared
  kPreemption  // others had a right to what it gave up
};

// How far the handshake of a resize with the job has come.
enum class ResizeStep { kNone, kCheckpointing, kDraining, kResizing, kRestoring };

// status.resize: what is known of a job's sizes. Which members it has is told by its gang record alone.
struct ResizeStatus {
  std::optional<int> desired = std::nullopt;  // members of the elastic role; absent: spec.elastic.replicas
  SizeOwner decidedBy = SizeOwner::kSpec;
  std::string message;  // why this size, in a sentence
  ResizeStep step = ResizeStep::kNone;
  std::optional<base::WallTime> deadline = std::nullopt;  // of that step
  std::optional<base::WallTime> cooldownUntil =
      std::nullopt;                                // until then nobody resizes it of his own accord
  std::int64_t count = 0;                          // resizes that came true
  std::vector<std::int64_t> lastPauseMillis = {};  // without training, newest first, at most 8
  std::vector<SpeedPoint> speeds = {};             // measured, by size
  friend bool operator==(const ResizeStatus&, const ResizeStatus&) = default;
};

}  // namespace trainyard::model
