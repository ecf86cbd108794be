#pragma once

#include <optional>
#include <span>
#include <string_view>

// What a gang failed of, as a closed set: metrics carry these words as a label, and what follows a failure
// hangs on them. What each means is told in docs/failures.md; how it is found, in core/lifecycle/.
namespace trainyard::model {

enum class FailureClass {
  kUnknown,  // nothing told: admitted rather than guessed
  // The user's own: trying again somewhere else does not help, or helps once.
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
  // Of neither: it says nothing any more, and nobody can tell why.
  kStalled,
};

// Whose matter a failure is, and so from whose budget a restart is taken.
enum class Party { kUser, kInfrastructure, kUnknown };

// What is done about a failure as long as its budget lasts.
enum class FailureAction {
  kEndNow,             // it would fail again: the job ends at once
  kRestart,            // the same gang again
  kRestartElsewhere,   // again, but not on the root member's node
  kRestartMoreMemory,  // again, with more memory
};

// Every class, kUnknown first, in the order of the enum.
[[nodiscard]] std::span<const FailureClass> allFailureClasses();

[[nodiscard]] std::string_view toString(FailureClass failure);  // "GpuOutOfMemory"
[[nodiscard]] std::string_view toString(Party party);           // "User", "Infrastructure", "Unknown"
[[nodiscard]] std::string_view toString(FailureAction action);  // "RestartElsewhere"
// Nothing for a word that is none of these.
[[nodiscard]] std::optional<FailureClass> parseFailureClass(std::string_view text);
[[nodiscard]] std::optional<FailureAction> parseFailureAction(std::string_view text);

[[nodiscard]] Party partyOf(FailureClass failure);

}  // namespace trainyard::model
