#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace trainyard::model {

enum class ConditionStatus { kTrue, kFalse, kUnknown };

// metav1.Condition.
struct Condition {
  std::string type;
  ConditionStatus status = ConditionStatus::kUnknown;
  std::string reason;
  std::string message;
  base::WallTime lastTransition{};
  std::int64_t observedGeneration = 0;
  friend bool operator==(const Condition&, const Condition&) = default;
};

}  // namespace trainyard::model

// Condition types of a TrainingJob.
namespace trainyard::model::conditions {

inline constexpr std::string_view kAdmitted = "Admitted";
inline constexpr std::string_view kQueued = "Queued";
inline constexpr std::string_view kScheduled = "Scheduled";
inline constexpr std::string_view kRunning = "Running";
inline constexpr std::string_view kResizing = "Resizing";
inline constexpr std::string_view kRestarting = "Restarting";
inline constexpr std::string_view kSuspended = "Suspended";
inline constexpr std::string_view kSucceeded = "Succeeded";
inline constexpr std::string_view kFailed = "Failed";
// Either of the two: what waits for the end of a job, well or not.
inline constexpr std::string_view kFinished = "Finished";
// Said of jobs only that were silent for longer than spec.health.stallSeconds, that have failed, or whose
// spec is to be mended; of Queues that cannot be used. kstatus, by which GitOps tools judge, reads it as
// failure.
inline constexpr std::string_view kStalled = "Stalled";
// Said of jobs only that no Queue is charged for.
inline constexpr std::string_view kCharged = "Charged";

// What the spec asks for has come true. Of a job: all its members run, or it has ended well, or is suspended
// as its spec says. Of a Queue: jobs can use it.
inline constexpr std::string_view kReady = "Ready";

}  // namespace trainyard::model::conditions
