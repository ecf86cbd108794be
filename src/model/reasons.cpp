#include "model/reasons.h"

#include <array>

namespace trainyard::model {

std::string_view toString(PendingReason reason) {
  switch (reason) {
    case PendingReason::kNoMatchingNodes: return "NoMatchingNodes";
    case PendingReason::kTooLarge: return "TooLarge";
    case PendingReason::kWaitingForCapacity: return "WaitingForCapacity";
    case PendingReason::kWaitingForTopology: return "WaitingForTopology";
    case PendingReason::kWaitingForTurn: return "WaitingForTurn";
    case PendingReason::kBackingOff: return "BackingOff";
    case PendingReason::kCleaningUp: return "CleaningUp";
  }
  return "Unknown";
}

std::optional<PendingReason> parsePendingReason(std::string_view text) {
  using enum PendingReason;
  for (const PendingReason reason : std::array{kNoMatchingNodes, kTooLarge, kWaitingForCapacity, kWaitingForTopology,
                                               kWaitingForTurn, kBackingOff, kCleaningUp}) {
    if (toString(reason) == text) return reason;
  }
  return std::nullopt;
}

std::string_view toString(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::kInvalidSpec: return "InvalidSpec";
    case RefusalReason::kInvalidTemplate: return "InvalidTemplate";
    case RefusalReason::kQueueNotFound: return "QueueNotFound";
    case RefusalReason::kPriorityClassNotFound: return "PriorityClassNotFound";
    case RefusalReason::kUnsupported: return "Unsupported";
  }
  return "Unknown";
}

}  // namespace trainyard::model
