#include "model/failure_class.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/enum_table.h"

namespace trainyard::model {
namespace {

struct Row {
  FailureClass failure;
  std::string_view name;
  Party party;
};

constexpr std::array kRows = {
    Row{FailureClass::kUnknown, "Unknown", Party::kUnknown},
    Row{FailureClass::kUserCodeError, "UserCodeError", Party::kUser},
    Row{FailureClass::kSyntaxError, "SyntaxError", Party::kUser},
    Row{FailureClass::kImportError, "ImportError", Party::kUser},
    Row{FailureClass::kArgumentError, "ArgumentError", Party::kUser},
    Row{FailureClass::kInputError, "InputError", Party::kUser},
    Row{FailureClass::kPermissionDenied, "PermissionDenied", Party::kUser},
    Row{FailureClass::kCheckpointError, "CheckpointError", Party::kUser},
    Row{FailureClass::kModelDiverged, "ModelDiverged", Party::kUser},
    Row{FailureClass::kGpuOutOfMemory, "GpuOutOfMemory", Party::kUser},
    Row{FailureClass::kHostOutOfMemory, "HostOutOfMemory", Party::kUser},
    Row{FailureClass::kSharedMemory, "SharedMemory", Party::kUser},
    Row{FailureClass::kSegmentationFault, "SegmentationFault", Party::kUser},
    Row{FailureClass::kAborted, "Aborted", Party::kUser},
    Row{FailureClass::kLibraryMissing, "LibraryMissing", Party::kUser},
    Row{FailureClass::kCudaVersionMismatch, "CudaVersionMismatch", Party::kUser},
    Row{FailureClass::kCommandNotFound, "CommandNotFound", Party::kUser},
    Row{FailureClass::kGpuHardware, "GpuHardware", Party::kInfrastructure},
    Row{FailureClass::kCudaInitFailed, "CudaInitFailed", Party::kInfrastructure},
    Row{FailureClass::kCudaError, "CudaError", Party::kInfrastructure},
    Row{FailureClass::kNcclError, "NcclError", Party::kInfrastructure},
    Row{FailureClass::kCollectiveTimeout, "CollectiveTimeout", Party::kInfrastructure},
    Row{FailureClass::kRendezvousTimeout, "RendezvousTimeout", Party::kInfrastructure},
    Row{FailureClass::kConnectionLost, "ConnectionLost", Party::kInfrastructure},
    Row{FailureClass::kDnsFailure, "DnsFailure", Party::kInfrastructure},
    Row{FailureClass::kMpiError, "MpiError", Party::kInfrastructure},
    Row{FailureClass::kMpiRuntimeFailure, "MpiRuntimeFailure", Party::kInfrastructure},
    Row{FailureClass::kStorageUnavailable, "StorageUnavailable", Party::kInfrastructure},
    Row{FailureClass::kDiskFull, "DiskFull", Party::kInfrastructure},
    Row{FailureClass::kImagePull, "ImagePull", Party::kInfrastructure},
    Row{FailureClass::kContainerConfig, "ContainerConfig", Party::kInfrastructure},
    Row{FailureClass::kEvicted, "Evicted", Party::kInfrastructure},
    Row{FailureClass::kNodeLost, "NodeLost", Party::kInfrastructure},
    Row{FailureClass::kPreempted, "Preempted", Party::kInfrastructure},
    Row{FailureClass::kAdmissionRefused, "AdmissionRefused", Party::kInfrastructure},
    Row{FailureClass::kDeadlineExceeded, "DeadlineExceeded", Party::kInfrastructure},
    Row{FailureClass::kInterrupted, "Interrupted", Party::kInfrastructure},
    Row{FailureClass::kPreflightFailed, "PreflightFailed", Party::kInfrastructure},
    Row{FailureClass::kStalled, "Stalled", Party::kUnknown},
};

constexpr std::array kActions = {FailureAction::kEndNow, FailureAction::kRestart,
                                 FailureAction::kRestartElsewhere, FailureAction::kRestartMoreMemory};

constexpr auto kClasses = [] {
  std::array<FailureClass, kRows.size()> classes{};
  for (std::size_t i = 0; i < kRows.size(); ++i) classes[i] = kRows[i].failure;
  return classes;
}();

static_assert(base::hasRowForEach(kRows, &Row::failure));

const Row& rowOf(FailureClass failure) { return kRows[static_cast<std::size_t>(failure)]; }

}  // namespace

std::span<const FailureClass> allFailureClasses() { return kClasses; }

std::string_view toString(FailureClass failure) { return rowOf(failure).name; }

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

Party partyOf(FailureClass failure) { return rowOf(failure).party; }

}  // namespace trainyard::model
