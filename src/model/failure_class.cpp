#include "model/failure_class.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace trainyard::model {
namespace {

struct Row {
  FailureClass failure;
  std::string_view name;
};

constexpr std::array kRows = {
    Row{FailureClass::kUnknown, "Unknown"},
    Row{FailureClass::kUserCodeError, "UserCodeError"},
    Row{FailureClass::kSyntaxError, "SyntaxError"},
    Row{FailureClass::kImportError, "ImportError"},
    Row{FailureClass::kArgumentError, "ArgumentError"},
    Row{FailureClass::kInputError, "InputError"},
    Row{FailureClass::kPermissionDenied, "PermissionDenied"},
    Row{FailureClass::kCheckpointError, "CheckpointError"},
    Row{FailureClass::kModelDiverged, "ModelDiverged"},
    Row{FailureClass::kGpuOutOfMemory, "GpuOutOfMemory"},
    Row{FailureClass::kHostOutOfMemory, "HostOutOfMemory"},
    Row{FailureClass::kSharedMemory, "SharedMemory"},
    Row{FailureClass::kSegmentationFault, "SegmentationFault"},
    Row{FailureClass::kAborted, "Aborted"},
    Row{FailureClass::kLibraryMissing, "LibraryMissing"},
    Row{FailureClass::kCudaVersionMismatch, "CudaVersionMismatch"},
    Row{FailureClass::kCommandNotFound, "CommandNotFound"},
    Row{FailureClass::kGpuHardware, "GpuHardware"},
    Row{FailureClass::kCudaInitFailed, "CudaInitFailed"},
    Row{FailureClass::kCudaError, "CudaError"},
    Row{FailureClass::kNcclError, "NcclError"},
    Row{FailureClass::kCollectiveTimeout, "CollectiveTimeout"},
    Row{FailureClass::kRendezvousTimeout, "RendezvousTimeout"},
    Row{FailureClass::kConnectionLost, "ConnectionLost"},
    Row{FailureClass::kDnsFailure, "DnsFailure"},
    Row{FailureClass::kMpiError, "MpiError"},
    Row{FailureClass::kMpiRuntimeFailure, "MpiRuntimeFailure"},
    Row{FailureClass::kStorageUnavailable, "StorageUnavailable"},
    Row{FailureClass::kDiskFull, "DiskFull"},
    Row{FailureClass::kImagePull, "ImagePull"},
    Row{FailureClass::kContainerConfig, "ContainerConfig"},
    Row{FailureClass::kEvicted, "Evicted"},
    Row{FailureClass::kNodeLost, "NodeLost"},
    Row{FailureClass::kPreempted, "Preempted"},
    Row{FailureClass::kAdmissionRefused, "AdmissionRefused"},
    Row{FailureClass::kDeadlineExceeded, "DeadlineExceeded"},
    Row{FailureClass::kInterrupted, "Interrupted"},
    Row{FailureClass::kPreflightFailed, "PreflightFailed"},
    Row{FailureClass::kStalled, "Stalled"},
};

constexpr std::array kActions = {FailureAction::kEndNow, FailureAction::kRestart,
                                 FailureAction::kRestartElsewhere, FailureAction::kRestartMoreMemory};

constexpr auto kClasses = [] {
  std::array<FailureClass, kRows.size()> classes{};
  for (std::size_t i = 0; i < kRows.size(); ++i) classes[i] = kRows[i].failure;
  return classes;
}();

// toString() looks a class up by its number.
static_assert([] {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].failure) != i) return false;
  }
  return static_cast<std::size_t>(FailureClass::kStalled) + 1 == kRows.size();
}());

}  // namespace

std::span<const FailureClass> allFailureClasses() { return kClasses; }

std::string_view toString(FailureClass failure) { return kRows[static_cast<std::size_t>(failure)].name; }

std::string_view toString(Party party) {
  switch (party) {
    case Party::kUser: return "User";
    case Party::kInfrastructure: return "Infrastructure";
    case Party::kUnknown: break;
  }
  return "Unknown";
}

std::string_view toString(FailureAction action) {
  switch (action) {
    case FailureAction::kEndNow: return "EndNow";
    case FailureAction::kRestartElsewhere: return "RestartElsewhere";
    case FailureAction::kRestartMoreMemory: return "RestartMoreMemory";
    case FailureAction::kRestart: break;
  }
  return "Restart";
}

std::optional<FailureClass> parseFailureClass(std::string_view text) {
  const auto* row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) { return each.name == text; });
  if (row == kRows.end()) return std::nullopt;
  return row->failure;
}

std::optional<FailureAction> parseFailureAction(std::string_view text) {
  for (const FailureAction action : kActions) {
    if (toString(action) == text) return action;
  }
  return std::nullopt;
}

Party partyOf(FailureClass failure) {
  if (failure == FailureClass::kUnknown || failure == FailureClass::kStalled) return Party::kUnknown;
  return failure < FailureClass::kGpuHardware ? Party::kUser : Party::kInfrastructure;
}

}  // namespace trainyard::model
