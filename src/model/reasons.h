#pragma once

#include <optional>
#include <string_view>

namespace trainyard::model {

// Why a job waits. Closed: metrics carry these as a label, dashboards and alerts are built on them.
enum class PendingReason {
  kNoMatchingNodes,     // no node passes the template's selectors, affinity and tolerations
  kTooLarge,            // would not fit even if the matching nodes were empty
  kWaitingForCapacity,  // too little is free
  kWaitingForTopology,  // enough is free, but not close enough together
  kWaitingForTurn,      // an earlier job of the queue comes first
  kBackingOff,          // the last attempt was aborted
  kCleaningUp,          // pods of an earlier attempt are still going away
  // Not admitted: waits until somebody mends it. The same word is the reason of Admitted=False.
  kInvalidSpec,      // a field that the schema cannot check
  kInvalidTemplate,  // the inside of a pod template; found by a dry-run
  kQueueNotFound,
  kPriorityClassNotFound,
};

[[nodiscard]] std::string_view toString(PendingReason reason);
[[nodiscard]] std::optional<PendingReason> parsePendingReason(std::string_view text);

}  // namespace trainyard::model
