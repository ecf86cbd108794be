#include "model/reasons.h"

#include <array>

namespace trainyard::model {

std::string_view toString(DelayKind kind) {
  switch (kind) {
    case DelayKind::kNone: return "None";
    case DelayKind::kFairShare: return "FairShare";
    case DelayKind::kFragmentation: return "Fragmentation";
  }
  return "Unknown";
}

std::optional<DelayKind> parseDelayKind(std::string_view text) {
  for (const DelayKind kind : {DelayKind::kNone, DelayKind::kFairShare, DelayKind::kFragmentation}) {
    if (toString(kind) == text) return kind;
  }
  return std::nullopt;
}

std::string_view toString(PendingReason reason) {
  switch (reason) {
    case PendingReason::kNoMatchingNodes: return "NoMatchingNodes";
    case PendingReason::kTooLarge: return "TooLarge";
    case PendingReason::kWaitingForCapacity: return "WaitingForCapacity";
    case PendingReason::kWaitingForTopology: return "WaitingForTopology";
    case PendingReason::kWaitingForTurn: return "WaitingForTurn";
    case PendingReason::kWaitingForQuota: return "WaitingForQuota";
    case PendingReason::kWaitingForShare: return "WaitingForShare";
    case PendingReason::kReservedForOthers: return "ReservedForOthers";
    case PendingReason::kBackingOff: return "BackingOff";
    case PendingReason::kWaitingForVolume: return "WaitingForVolume";
    case PendingReason::kCleaningUp: return "CleaningUp";
    case PendingReason::kInvalidSpec: return "InvalidSpec";
    case PendingReason::kInvalidTemplate: return "InvalidTemplate";
    case PendingReason::kQueueNotFound: return "QueueNotFound";
    case PendingReason::kQueueNotReady: return "QueueNotReady";
    case PendingReason::kNamespaceNotAllowed: return "NamespaceNotAllowed";
    case PendingReason::kQuotaExceeded: return "QuotaExceeded";
    case PendingReason::kPriorityClassNotFound: return "PriorityClassNotFound";
    case PendingReason::kPriorityClassNotAllowed: return "PriorityClassNotAllowed";
    case PendingReason::kNoQueue: return "NoQueue";
    case PendingReason::kOther: return "Other";
  }
  return "Unknown";
}

std::optional<PendingReason> parsePendingReason(std::string_view text) {
  using enum PendingReason;
  for (const PendingReason reason : std::array{kNoMatchingNodes,
                                               kTooLarge,
                                               kWaitingForCapacity,
                                               kWaitingForTopology,
                                               kWaitingForTurn,
                                               kWaitingForQuota,
                                               kWaitingForShare,
                                               kReservedForOthers,
                                               kBackingOff,
                                               kWaitingForVolume,
                                               kCleaningUp,
                                               kInvalidSpec,
                                               kInvalidTemplate,
                                               kQueueNotFound,
                                               kQueueNotReady,
                                               kNamespaceNotAllowed,
                                               kQuotaExceeded,
                                               kPriorityClassNotFound,
                                               kPriorityClassNotAllowed,
                                               kNoQueue}) {
    if (toString(reason) == text) return reason;
  }
  return std::nullopt;
}

}  // namespace trainyard::model
