#pragma once

#include <chrono>
#include <optional>

#include "base/time.h"
#include "core/timeline/ends.h"
#include "model/policy.h"

namespace trainyard::core {

// Whether a gang may start on capacity that is reserved for a pending one: on nodes
// (core/timeline/reservation.h) or below a queue's limit (core/timeline/limit_hold.h). docs/preemption.md
// explains the rule to administrators.
struct BackfillVerdict {
  enum class Kind {
    kFree,         // takes nothing that is reserved
    kConditional,  // takes reserved capacity; the holder may preempt it from `from` on
    kReserved,
    kReservedBriefly,  // only because a gang has just left one of the nodes
  };
  Kind kind = Kind::kFree;
  base::WallTime from{};
  bool endsInTime = false;  // kConditional: the gang is expected to end before the holder's expected start
  // kReserved: when the verdict may change though nothing else does.
  std::optional<base::WallTime> again = std::nullopt;

  [[nodiscard]] bool isReserved() const { return kind == Kind::kReserved || kind == Kind::kReservedBriefly; }
};

// A gang that asks for reserved capacity.
struct BackfillRequest {
  bool isPreemptible = false;  // by the holder
  // The gang comes before the holder in the order of their queue, if both run as long as expected.
  bool comesFirst = false;
  ExpectedRun run = {};  // cautiousRun()
  // Time until its own spec ends it, whatever it does (spec.activeDeadlineSeconds).
  std::optional<std::chrono::seconds> deadline = std::nullopt;
  // The gang preempts others for this capacity, and from this time on the holder could preempt those.
  std::optional<base::WallTime> inheritedFrom = std::nullopt;
};

struct ReservedTime {
  // When the holder expects its capacity; absent: not even when all others have ended.
  std::optional<ExpectedTime> start;
  // The start of the unbroken period in which reservations have existed.
  base::WallTime reservingSince{};
  // Everything in the holder's way is terminating already, or may be preempted by it now.
  bool isImminent = false;
};

// `awaitsLeaving`: something in the holder's way is terminating already.
[[nodiscard]] bool isImminent(const ExpectedTime& start, bool awaitsLeaving, base::WallTime now);

// Reserved capacity is lent only to a gang that is certain to return it.
//
// Steps; the first that holds decides:
//  1. the holder may preempt the gang, and does not wait for the last other gangs to terminate: the gang
//     starts, on the condition that the holder preempts it once that gives the holder its placement. If it
//     is expected to end before the holder's expected start, not before conditionFrom(). If it comes
//     before the holder in the order, and its run time is no guess, not before that plus minRuntime has
//     passed. Else not before minRuntime, for which there must be time. A gang that preempts others for
//     this capacity has no more time than those had
//  2. the gang's own deadline ends it before the holder's expected start: it starts
//  3. reservations have lapsed: it starts. From the first reservation on, capacity is
//     kept from gangs that cannot be preempted for BackfillPolicy::reservationLimit,
//     then not kept for as long, and so on in turns
// While the last other gangs terminate, only a gang that comes before the holder in the order starts.
// (Rejected: the condition holds after minRuntime as always. Two gangs of one tenant that fail again and
// again, each while the other one terminates, keep a holder waiting for ever.)
// Estimates of the run time count only where the holder can preempt the gang that exceeds
// them. (Rejected: also count the estimates of a fixed number of gangs that cannot be
// preempted. Sixteen that never end are a cluster.)
// Until conditionFrom() no holder preempts a gang that starts now and may run for `run`. That is the run
// time if it is stated or learnt, at least minRuntime, at most the larger of minRuntime and
// reservationLimit. Estimates are what tenants state, and the older gangs that the holder waits for may
// end long before theirs. (Rejected: until the holder's expected start. Two jobs of one tenant that state ten
// hours kept a holder waiting for ten hours, though the older one had ended after a minute.)
[[nodiscard]] base::WallTime conditionFrom(const ExpectedRun& run, base::WallTime now,
                                           const model::Policy& policy);

[[nodiscard]] BackfillVerdict lendReserved(const BackfillRequest& request, const ReservedTime& reserved,
                                           base::WallTime now, const model::Policy& policy);

}  // namespace trainyard::core
