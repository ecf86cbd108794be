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
  kWaitingForQuota,     // the queue, or one above it, is at its limit
  kWaitingForShare,     // the queue is over its share, and others are entitled to what is free
  kReservedForOthers,   // would fit, but the places are kept for a larger job that came first
  kBackingOff,          // the last attempt was aborted
  kWaitingForVolume,    // a PersistentVolumeClaim of the template is missing or not bound
  kCleaningUp,          // pods of an earlier attempt, or of a deleted job of this name, are still going away
  // Not admitted: waits until somebody mends it. The same word is the reason of Admitted=False.
  kInvalidSpec,      // a field that the schema cannot check
  kInvalidTemplate,  // the inside of a pod template; found by a dry-run
  kQueueNotFound,
  kQueueNotReady,        // its parents make no tree, or its spec cannot be used
  kNamespaceNotAllowed,  // the queue's namespaceSelector leaves this namespace out
  kQuotaExceeded,        // larger alone than the queue may ever have
  kPriorityClassNotFound,
  kPriorityClassNotAllowed,  // the queue does not list it
  kNoQueue,                  // it names none, and the policy wants one
  kOther,  // a word that this version does not know; never given, only read: Pending::otherReason
};

// Philly's two kinds of waiting ("Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training
// Workloads", ATC 2019, section 3.1.1): the queue has used up its share, or it has the share and there is no
// place that is large or close enough. Neither: nothing that a scheduler could change.
enum class DelayKind { kNone, kFairShare, kFragmentation };
[[nodiscard]] std::string_view toString(DelayKind kind);  // "None", "FairShare", "Fragmentation"
[[nodiscard]] std::optional<DelayKind> parseDelayKind(std::string_view text);

[[nodiscard]] std::string_view toString(PendingReason reason);
// Nothing for a word that this version does not know.
[[nodiscard]] std::optional<PendingReason> parsePendingReason(std::string_view text);

}  // namespace trainyard::model
