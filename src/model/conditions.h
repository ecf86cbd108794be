#pragma once

#include <string_view>

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

}  // namespace trainyard::model::conditions
