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
    kKept,
    kKeptBriefly,  // only because a gang has just left one of the nodes
  };
  Kind kind = Kind::kFree;
  base::WallTime from{};
  // kKept: when the verdict may change though nothing else does.
  std::optional<base::WallTime> again = std::nullopt;

  [[nodiscard]] bool isKept() const { return kind == Kind::kKept || kind == Kind::kKeptBriefly; }
};

// A gang that asks for reserved capacity.
struct BackfillRequest {
  bool isPreemptible = false;  // by the holder
  // It comes before the holder in the order of their queue, by what they are expected to run.
  bool comesFirst = false;
  ExpectedRun run = {};  // cautiousRun()
  // Time until its own spec ends it, whatever it does (spec.activeDeadlineSeconds).
  std::optional<std::chrono::seconds> deadline = std::nullopt;
};

// When the holder expects its capacity, and since when it has the reservation.
struct ReservedTime {
  std::optional<ExpectedTime> start;  // absent: not even when all others have ended
  base::WallTime since{};
};

// Reserved capacity is lent only to a gang that is certain to return it.
//
// Steps; the first that holds decides:
//  1. the holder may preempt the gang: it starts, on the condition that the holder preempts it once that
//  gives
//     the holder its placement. Not before the holder's expected start if the gang is expected to end by
//     then; not before it has run as long as it is expected to, if it comes before the holder in the order;
//     else not before the policy's minRuntime has passed, for which there must be time
//  2. the gang's own deadline ends it before the holder's expected start: it starts
//  3. the reservation has lapsed: it starts. A reservation keeps capacity from gangs that cannot be preempted
//  for
//     BackfillPolicy::reservationLimit, lapses for as long, and so on
// Statements about the run time are believed only where the holder can preempt the gang that breaks them.
// (Lost: a count of gangs that cannot be preempted and are believed all the same. Sixteen that never end are
// a cluster.)
[[nodiscard]] BackfillVerdict lendReserved(const BackfillRequest& request, const ReservedTime& reserved,
                                           base::WallTime now, const model::Policy& policy);

}  // namespace trainyard::core
