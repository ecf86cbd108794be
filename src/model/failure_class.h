#pragma once

#include <optional>
#include <span>
#include <string_view>

// The causes of a gang's failure, as a closed set: metrics have these names as a label, and the reaction to a
// failure depends on them. docs/failures.md describes each; core/lifecycle/ recognizes them.
namespace trainyard::model {

enum class FailureClass {
  kUnknown,  // no rule matched: reported as such instead of guessed
  // The user's: another attempt elsewhere does not help, or helps once.
  kUserCodeError,
  kSyntaxError,
  kImportError,
  kArgumentError,
  kInputError,
  kPermissionDenied,
  kCheckpointError,
  kModelDiverged,
  kGpuOutOfMemory,
  kHostOutOfMemory,
  kSharedMemory,
  kSegmentationFault,
  kAborted,
  kLibraryMissing,
  kCudaVersionMismatch,
  kCommandNotFound,
  // The infrastructure's.
  kGpuHardware,
  kCudaInitFailed,
  kCudaError,
  kNcclError,
  kCollectiveTimeout,
  kRendezvousTimeout,
  kConnectionLost,
  kDnsFailure,
  kMpiError,
  kMpiRuntimeFailure,
  kStorageUnavailable,
  kDiskFull,
  kImagePull,
  kContainerConfig,
  kEvicted,
  kNodeLost,
  kPreempted,
  kAdmissionRefused,
  kDeadlineExceeded,
  kInterrupted,
  kPreflightFailed,
  // Without a party: the job makes no sign of life, and the cause is unknown.
  kStalled,
};

// The party that a failure is attributed to, and that its restart is counted against.
enum class Party { kUser, kInfrastructure, kUnknown };

// The reaction to a failure while its budget lasts.
enum class FailureAction {
  kEndNow,             // it would fail again: the job fails at once
  kRestart,            // restart the same gang
  kRestartElsewhere,   // restart, but not on the root member's node
  kRestartMoreMemory,  // restart with more memory
};

// Every class, kUnknown first, in the order of the enum.
[[nodiscard]] std::span<const FailureClass> allFailureClasses();

[[nodiscard]] std::string_view toString(FailureClass failure);  // "GpuOutOfMemory"
[[nodiscard]] std::string_view toString(Party party);           // "User", "Infrastructure", "Unknown"
[[nodiscard]] std::string_view toString(FailureAction action);  // "RestartElsewhere"
// Return nullopt for a text that is none of these.
[[nodiscard]] std::optional<FailureClass> parseFailureClass(std::string_view text);
[[nodiscard]] std::optional<FailureAction> parseFailureAction(std::string_view text);

[[nodiscard]] Party partyOf(FailureClass failure);

}  // namespace trainyard::model
