#include "core/timeline/backfill.h"

#include <algorithm>

namespace trainyard::core {
namespace {

using Kind = BackfillVerdict::Kind;

// Until when the reservation keeps capacity from gangs that cannot be preempted; now or earlier: it has
// lapsed.
base::WallTime keptUntil(const ReservedTime& reserved, base::WallTime now, const model::Policy& policy) {
  const base::WallTime::duration limit = policy.backfill.reservationLimit;
  if (limit <= limit.zero()) return now;
  const auto age = std::max(now - reserved.since, limit.zero());
  const auto terms = age / limit;
  return terms % 2 == 0 ? reserved.since + limit * (terms + 1) : now;
}

}  // namespace

BackfillVerdict lendReserved(const BackfillRequest& request, const ReservedTime& reserved, base::WallTime now,
                             const model::Policy& policy) {
  const bool isKnown = reserved.start && reserved.start->basis != Basis::kGuess;
  const auto endsBy = [&](std::chrono::seconds run) { return isKnown && now + run <= reserved.start->at; };
  if (request.isPreemptible) {
    if (request.run.basis != Basis::kGuess && endsBy(request.run.time))
      return {Kind::kConditional, reserved.start->at};
    const base::WallTime from = now + policy.preemption.minRuntime;
    if (request.comesFirst)
      return {Kind::kConditional, std::max<base::WallTime>(from, now + request.run.time)};
    const bool isStated = reserved.start && reserved.start->basis == Basis::kStated;
    if (!isStated || from <= reserved.start->at) return {Kind::kConditional, from};
    return {.kind = Kind::kKept,
            .again = reserved.start->at > now ? std::optional(reserved.start->at) : std::nullopt};
  }
  if (request.deadline && endsBy(*request.deadline)) return {};
  const base::WallTime until = keptUntil(reserved, now, policy);
  if (until <= now) return {};
  return {.kind = Kind::kKept, .again = until};
}

}  // namespace trainyard::core
