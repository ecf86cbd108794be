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
// Succeeded or Failed: for clients that wait for the end of a job, whatever its result.
inline constexpr std::string_view kFinished = "Finished";
// Set only on jobs that were silent for longer than spec.health.stallSeconds, that have failed, or that need
// a change of their spec; and on Queues that cannot be used. kstatus, which GitOps tools use, reads it as
// failure.
inline constexpr std::string_view kStalled = "Stalled";
// Set only on placed Gangs: places without a pod, and since when.
inline constexpr std::string_view kPodsMissing = "PodsMissing";
// Set only on jobs that are charged to no Queue.
inline constexpr std::string_view kCharged = "Charged";

// The spec is in effect. A job: all its members run, or it has succeeded, or it is suspended as its spec
// requires. A Queue: jobs can use it.
inline constexpr std::string_view kReady = "Ready";

}  // namespace trainyard::model::conditions
