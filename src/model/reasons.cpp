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
    case PendingReason::kInvalidSpec: return "InvalidSpec";
    case PendingReason::kInvalidTemplate: return "InvalidTemplate";
    case PendingReason::kQueueNotFound: return "QueueNotFound";
    case PendingReason::kPriorityClassNotFound: return "PriorityClassNotFound";
  }
  return "Unknown";
}

std::optional<PendingReason> parsePendingReason(std::string_view text) {
  using enum PendingReason;
  for (const PendingReason reason :
       std::array{kNoMatchingNodes, kTooLarge, kWaitingForCapacity, kWaitingForTopology, kWaitingForTurn,
                  kBackingOff, kCleaningUp, kInvalidSpec, kInvalidTemplate, kQueueNotFound,
                  kPriorityClassNotFound}) {
    if (toString(reason) == text) return reason;
  }
  return std::nullopt;
}

}  // namespace trainyard::model
