#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace trainyard::model {

// Why a job is pending. Closed: metrics have these as a label, and dashboards and alerts depend on them. A
// new reason needs a row in kPendingReasons, and what docs/architecture.md lists.
enum class PendingReason {
  kNoMatchingNodes,      // no node passes the template's selectors, affinity and tolerations
  kTooLarge,             // would not fit even on empty nodes
  kWaitingForCapacity,   // too little free capacity
  kWaitingForTopology,   // enough free capacity, but not close enough together
  kWaitingForTurn,       // an earlier job of the queue comes first
  kWaitingForQuota,      // the queue, or one above it, is at its limit
  kWaitingForShare,      // the queue exceeds its fair share, and others are entitled to the free capacity
  kReservedForOthers,    // would fit, but the nodes are reserved for a larger earlier job
  kBackingOff,           // the last attempt was aborted
  kWaitingForVolume,     // a PersistentVolumeClaim of the template is missing or not bound
  kUnusableDeviceClaim,  // a device claim of the template is missing, or asks for what cannot be promised
  kCleaningUp,       // pods of an earlier attempt, or of a deleted job of this name, are still terminating
  kWaitingForKueue,  // it asks for quota of Kueue, which has not admitted it
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

struct DelayKindTraits {
  DelayKind kind;
  std::string_view name;
};

inline constexpr std::array kDelayKinds{
    DelayKindTraits{DelayKind::kNone, "None"},
    DelayKindTraits{DelayKind::kFairShare, "FairShare"},
    DelayKindTraits{DelayKind::kFragmentation, "Fragmentation"},
};

[[nodiscard]] std::string_view toString(DelayKind kind);
[[nodiscard]] std::optional<DelayKind> parseDelayKind(std::string_view text);

// Whether a job that waits for a reason is admitted.
enum class ReasonKind {
  kAdmitted,
  kNotAdmitted,  // a user or administrator can make the same spec acceptable
  kInvalid,      // not admitted, and only a new spec can be: Stalled=True, which kstatus shows as Failed
};

struct PendingReasonTraits {
  PendingReason reason;
  std::string_view name;  // in status, Events, metrics and conditions
  bool waitsForCapacity;  // for capacity that others hold: preemption can help
  bool expectsStart;      // it starts once running jobs end, so an expected start is computed
  bool wantsNodes;        // more nodes can help: an autoscaler is asked
  DelayKind delay;        // what the wait counts as, unless whatever sets the reason knows more
  ReasonKind kind;
};

// The properties of each reason, in the order above.
inline constexpr auto kPendingReasons = [] {
  using Row = PendingReasonTraits;
  using enum PendingReason;
  using enum DelayKind;
  using enum ReasonKind;
  return std::array{
      Row{kNoMatchingNodes, "NoMatchingNodes", false, false, true, kNone, kAdmitted},
      Row{kTooLarge, "TooLarge", false, false, true, kNone, kAdmitted},
      Row{kWaitingForCapacity, "WaitingForCapacity", true, true, true, kFragmentation, kAdmitted},
      Row{kWaitingForTopology, "WaitingForTopology", true, true, false, kFragmentation, kAdmitted},
      Row{kWaitingForTurn, "WaitingForTurn", false, false, false, kNone, kAdmitted},
      Row{kWaitingForQuota, "WaitingForQuota", false, false, false, kFairShare, kAdmitted},
      Row{kWaitingForShare, "WaitingForShare", false, false, false, kFairShare, kAdmitted},
      Row{kReservedForOthers, "ReservedForOthers", false, true, false, kFragmentation, kAdmitted},
      Row{kBackingOff, "BackingOff", false, false, false, kNone, kAdmitted},
      Row{kWaitingForVolume, "WaitingForVolume", false, false, false, kNone, kAdmitted},
      Row{kUnusableDeviceClaim, "UnusableDeviceClaim", false, false, false, kNone, kAdmitted},
      Row{kCleaningUp, "CleaningUp", false, false, false, kNone, kAdmitted},
      Row{kWaitingForKueue, "WaitingForKueue", false, false, false, kNone, kAdmitted},
      Row{kInvalidSpec, "InvalidSpec", false, false, false, kNone, kInvalid},
      Row{kInvalidTemplate, "InvalidTemplate", false, false, false, kNone, kInvalid},
      Row{kQueueNotFound, "QueueNotFound", false, false, false, kNone, kNotAdmitted},
      Row{kQueueNotReady, "QueueNotReady", false, false, false, kNone, kNotAdmitted},
      Row{kNamespaceNotAllowed, "NamespaceNotAllowed", false, false, false, kNone, kNotAdmitted},
      Row{kQuotaExceeded, "QuotaExceeded", false, false, false, kNone, kNotAdmitted},
      Row{kPriorityClassNotFound, "PriorityClassNotFound", false, false, false, kNone, kNotAdmitted},
      Row{kPriorityClassNotAllowed, "PriorityClassNotAllowed", false, false, false, kNone, kNotAdmitted},
      Row{kNoQueue, "NoQueue", false, false, false, kNone, kNotAdmitted},
      Row{kOther, "Other", false, false, false, kNone, kAdmitted},
  };
}();

[[nodiscard]] constexpr const PendingReasonTraits& traitsOf(PendingReason reason) {
  return kPendingReasons[static_cast<std::size_t>(reason)];
}
[[nodiscard]] std::string_view toString(PendingReason reason);
// Returns nullopt for a reason that this version does not define.
[[nodiscard]] std::optional<PendingReason> parsePendingReason(std::string_view text);

}  // namespace trainyard::model
