#include "core/lifecycle/failure_class.h"

namespace trainyard::core {
namespace {

using enum model::FailureAction;

// One restart: the first failure may be chance, a second one proves that it is not.
constexpr DefaultReaction kHopeless{kEndNow, 0};
constexpr DefaultReaction kOnce{kRestart, 1};
constexpr DefaultReaction kAgain{kRestart, 3};
constexpr DefaultReaction kOtherNode{kRestartElsewhere, 3};

}  // namespace

DefaultReaction defaultReaction(model::FailureClass failure) {
  using enum model::FailureClass;
  switch (failure) {
    // The same program with the same input ends in the same way.
    case kUserCodeError:
    case kSyntaxError:
    case kImportError:
    case kArgumentError:
    case kInputError:
    case kPermissionDenied:
    case kCheckpointError:
    case kModelDiverged:
    case kGpuOutOfMemory:
    case kSharedMemory:
    case kLibraryMissing:
    case kCudaVersionMismatch:
    case kCommandNotFound:
    // A limit that a user or administrator set.
    case kDeadlineExceeded: return kHopeless;
    case kHostOutOfMemory: return {kRestartMoreMemory, 1};
    case kUnknown:
    case kSegmentationFault:
    case kAborted:
    // The kubelet already retries these for as long as the pod lives.
    case kImagePull:
    case kContainerConfig: return kOnce;
    case kNcclError:
    case kCollectiveTimeout:
    case kRendezvousTimeout:
    case kConnectionLost:
    case kDnsFailure:
    case kMpiError:
    case kStorageUnavailable:
    case kInterrupted:
    case kStalled: return kAgain;
    // The node itself may be broken, full or gone.
    case kGpuHardware:
    case kCudaInitFailed:
    case kCudaError:
    case kMpiRuntimeFailure:
    case kDiskFull:
    case kPreflightFailed:
    case kEvicted:
    case kNodeLost:
    case kAdmissionRefused: return kOtherNode;
    case kPreempted: return {kRestart, std::nullopt};
  }
  return kOnce;
}

}  // namespace trainyard::core
