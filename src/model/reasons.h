#pragma once

#include <optional>
#include <string_view>

namespace trainyard::model {

// Why a job is pending. Closed: metrics have these as a label, and dashboards and alerts depend on them.
enum class PendingReason {
  kNoMatchingNodes,     // no node passes the template's selectors, affinity and tolerations
  kTooLarge,            // would not fit even on empty nodes
  kWaitingForCapacity,  // too little free capacity
  kWaitingForTopology,  // enough free capacity, but not close enough together
  kWaitingForTurn,      // an earlier job of the queue comes first
  kWaitingForQuota,     // the queue, or one above it, is at its limit
  kWaitingForShare,     // the queue exceeds its fair share, and others are entitled to the free capacity
  kReservedForOthers,   // would fit, but the nodes are reserved for a larger earlier job
  kBackingOff,          // the last attempt was aborted
  kWaitingForVolume,    // a PersistentVolumeClaim of the template is missing or not bound
  kCleaningUp,          // pods of an earlier attempt, or of a deleted job of this name, are still terminating
  // Not admitted: waits until a user fixes it. The reason of Admitted=False has the same name.
  kInvalidSpec,      // a field beyond the checks of the schema
  kInvalidTemplate,  // the inside of a pod template; found by a dry-run
  kQueueNotFound,
  kQueueNotReady,        // its parents form no tree, or its spec is not usable
  kNamespaceNotAllowed,  // the queue's namespaceSelector excludes this namespace
  kQuotaExceeded,        // larger than the queue's maximum
  kPriorityClassNotFound,
  kPriorityClassNotAllowed,  // the queue does not list it
  kNoQueue,                  // it names no queue, and the policy requires one
  kOther,                    // a reason of a newer version; never set, only read: Pending::otherReason
};

// Philly's two kinds of delay ("Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training
// Workloads", ATC 2019, section 3.1.1): the queue has used up its share, or it has the share and no placement
// is large or close enough. kNone: a delay that a scheduler cannot change.
enum class DelayKind { kNone, kFairShare, kFragmentation };
[[nodiscard]] std::string_view toString(DelayKind kind);  // "None", "FairShare", "Fragmentation"
[[nodiscard]] std::optional<DelayKind> parseDelayKind(std::string_view text);

[[nodiscard]] std::string_view toString(PendingReason reason);
// Returns nullopt for a reason that this version does not define.
[[nodiscard]] std::optional<PendingReason> parsePendingReason(std::string_view text);

}  // namespace trainyard::model
