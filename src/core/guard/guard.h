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

// What kube-scheduler is told about one pod. The guard keeps strangers off places that a gang has reserved
// and that kube-scheduler cannot see yet; it never frees anything by itself.
//
// Assumes: (1) kube-scheduler calls about one pod at a time and counts the pods that it has just placed, so
// that two strangers never get the same unreserved room; (2) a caller's list is not the whole cluster; (3)
// calls may be repeated or speculative: a decision changes nothing but the pod's own hold.
//
// Who is a gang member: a pod whose controller is a TrainingJob of its own namespace that the view knows, and
// whose name is that of a recorded place of its epoch. Labels only say where to look: anybody can write them.
//
// Room: kube-scheduler counts bound pods itself, so where no gang is, every stranger passes, whatever our
// numbers say. Refusing there by older news did harm: on 1.36.3 a pod whose victim was gone for
// kube-scheduler, but not yet in our view, was refused its nominated node and had a second victim evicted.
// Where members are bound our numbers count, less strangers on their way out: another scheduler's news of the
// binding may be older than ours. Where members are still to be bound only our numbers count.
//
// Strangers and holds: between kube-scheduler's decision and our watch there is a lag, in which our numbers
// still offer room that is gone. On nodes without reservations kube-scheduler's own count closes it. On a
// node with reserved places it cannot, as it does not know them; so of these at most one is offered to a pod,
// the best by score, and held for it until the pod is seen bound or the hold runs out. Holding every node
// offered was the alternative: one pod would then keep others off a whole cluster. Offering only one node at
// all was the other: it would take preferences and spreading out of kube-scheduler's hands.
namespace trainyard::core {

// Why a node was refused. Closed: a metric carries it as a label.
enum class GuardReason {
  kNotItsPlace,  // a gang member has its place on another node
  kNotRecorded,  // controlled by a TrainingJob, but no current record names it
  kAborting,     // its attempt is being given up
  kUnknownNode,  // the view does not have the node
  kReserved,     // reserved places leave too little
  kRunning,      // members that are bound leave too little
  kHeld,         // holds of other pods beside reserved places leave too little
  kNotTheBest,   // has reserved places, and another node was offered instead
};
inline constexpr std::size_t kGuardReasons = 8;
[[nodiscard]] std::string_view toString(GuardReason reason);

// Always to be told as unresolvable: a reservation is never to be evicted around.
struct NodeRefusal {
  std::string_view node;     // as the caller wrote it
  std::string_view message;  // in FilterDecision::texts
};

// Views into the caller's names and into `texts`, which few nodes need many of: kube-scheduler adds refusals
// up by their text.
struct FilterDecision {
  std::vector<std::string_view> accepted;  // in the order of the question
  std::vector<NodeRefusal> refused;
  std::array<std::size_t, kGuardReasons> refusedBy{};
  // Where to hold room for this pod; an older hold of it is over in any case.
  std::optional<model::NodeName> hold;
  std::deque<std::string> texts;
};

// kUnavailable when the view is older than the pod: its gang is not known yet, and the caller shall ask
// again.
[[nodiscard]] base::Result<FilterDecision> filter(const GuardView& view, const Holds& holds,
                                                  const model::Pod& pod,
                                                  std::span<const std::string_view> names);

inline constexpr int kMaxScore = 10;

// A score from 0 to kMaxScore for each name, in their order. The assigned node of a member, and the node held
// for a stranger, get 10. Other nodes get more the fewer GPUs would be left on them, and nothing when a
// wholly free node would be broken up.
[[nodiscard]] std::vector<int> prioritize(const GuardView& view, const Holds& holds, const model::Pod& pod,
                                          std::span<const std::string_view> names);

// A node and the pods that kube-scheduler would evict there.
struct PreemptionCandidate {
  std::string_view node;
  std::vector<std::string_view> victimUids;
};

// For each candidate whether it may be taken: never on behalf of a gang's pod, never where a reservation is,
// never a gang's pod as a victim, nor one that the view does not know.
[[nodiscard]] std::vector<bool> mayPreempt(const GuardView& view, const model::Pod& pod,
                                           std::span<const PreemptionCandidate> candidates);

}  // namespace trainyard::core
