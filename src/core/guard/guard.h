#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/guard/guard_holds.h"
#include "core/guard/guard_view.h"
#include "model/pod.h"

// The answers to kube-scheduler about one pod. The guard keeps foreign pods off nodes that a gang has
// reserved and kube-scheduler cannot see yet; it never frees anything by itself.
//
// Assumes: (1) kube-scheduler asks about one pod at a time and counts the pods that it has just placed, so
// two foreign pods never get the same unreserved capacity; (2) a caller's list is not the whole cluster; (3)
// calls may be repeated or speculative: a decision changes only the pod's own hold.
//
// A gang member is a pod with a TrainingJob of its own namespace as controller, which the view contains, and
// with the name of a recorded member of its epoch. Labels only direct the look-up: any user can write them.
//
// Capacity: kube-scheduler counts bound pods itself, so on nodes without gangs every foreign pod passes,
// whatever the guard's view shows. A refusal by an older view is harmful: on 1.36.3 it refused a pod its
// nominated node, because the view still had the pod's victim, and a second victim was evicted. On nodes with
// bound members the guard's numbers count, less foreign pods that terminate: another scheduler may see the
// binding later. On nodes with unbound members only the guard's numbers count.
//
// Foreign pods and holds: between kube-scheduler's decision and the guard's watch there is a lag, in which
// the view still offers used capacity. On nodes without reservations kube-scheduler's own count covers it. On
// nodes with reserved capacity that count is not enough. So the guard offers a pod at most one of those, the
// best by score, and holds it until the pod is seen bound or the hold expires. (Rejected: holding every
// offered node. One pod would keep others off a whole cluster. Also rejected: offering only one node at all.
// It would disable kube-scheduler's preferences and spreading.)
namespace trainyard::core {

// Why a node was refused. The set is closed: a metric has it as a label.
enum class GuardReason {
  kNotItsPlace,  // the gang member is assigned to another node
  kNotRecorded,  // controlled by a TrainingJob, but no current record names it
  kAborting,     // its proposal is being aborted
  kUnknownNode,  // the view does not contain the node
  kReserved,     // reserved capacity leaves too little
  kRunning,      // bound members leave too little
  kHeld,         // holds of other pods beside reserved capacity leave too little
  kNotTheBest,   // has reserved capacity, and another node was offered instead
};
inline constexpr std::size_t kGuardReasons = 8;
[[nodiscard]] std::string_view toString(GuardReason reason);

// Always returned as unresolvable: no eviction may work around a reservation.
struct NodeRefusal {
  std::string_view node;     // as the caller wrote it
  std::string_view message;  // in FilterDecision::texts
};

// Views into the caller's names and into `texts`. Most nodes share a few texts, because kube-scheduler adds
// up refusals by their text.
struct FilterDecision {
  std::vector<std::string_view> accepted;  // in the order of the request
  std::vector<NodeRefusal> refused;
  std::array<std::size_t, kGuardReasons> refusedBy{};
  // The node on which to hold capacity for this pod; an older hold of the pod ends in any case.
  std::optional<model::NodeName> hold;
  std::deque<std::string> texts;
};

// Returns true for a pod that may get devices of DRA by what it writes: a claim, or the resource that stands
// for a class.
[[nodiscard]] bool asksForDevices(const model::Pod& pod);

// Returns kUnavailable if the view is older than the pod, so that its gang is not in it yet; the caller has
// to repeat the call.
[[nodiscard]] base::Result<FilterDecision> filter(const GuardView& view, const Holds& holds,
                                                  const model::Pod& pod,
                                                  std::span<const std::string_view> names);

inline constexpr int kMaxScore = 10;

// Returns a score from 0 to kMaxScore for each name, in their order. The assigned node of a member, and the
// node held for a foreign pod, get 10. Other nodes get more the fewer GPUs would be left on them, and 0 if
// the pod would break up a wholly free node.
[[nodiscard]] std::vector<int> prioritize(const GuardView& view, const Holds& holds, const model::Pod& pod,
                                          std::span<const std::string_view> names);

// A node and the pods that kube-scheduler would evict there.
struct PreemptionCandidate {
  std::string_view node;
  std::vector<std::string_view> victimUids;
};

// Returns whether each candidate may be preempted. No preemption happens for a gang's pod or on a node with a
// reservation. No gang's pod is a victim, nor a pod that the view does not contain.
[[nodiscard]] std::vector<bool> mayPreempt(const GuardView& view, const model::Pod& pod,
                                           std::span<const PreemptionCandidate> candidates);

}  // namespace trainyard::core
