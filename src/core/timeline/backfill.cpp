#include "core/timeline/backfill.h"

#include <algorithm>

namespace trainyard::core {
namespace {

using Kind = BackfillVerdict::Kind;

// Until when capacity is kept from gangs that cannot be preempted. Now or earlier: the period has lapsed.
base::WallTime keptUntil(base::WallTime since, base::WallTime now, const model::Policy& policy) {
  const base::WallTime::duration limit = policy.backfill.reservationLimit;
  if (limit <= limit.zero()) return now;
  const auto terms = std::max(now - since, limit.zero()) / limit;
  return terms % 2 == 0 ? since + limit * (terms + 1) : now;
}

BackfillVerdict lendUntilPreempted(const BackfillRequest& request, const ReservedTime& reserved,
                                   base::WallTime now, const model::Policy& policy) {
  if (reserved.isImminent && !request.comesFirst) return {.kind = Kind::kReserved};
  const bool isKnown = reserved.start && reserved.start->basis != Basis::kGuess;
  if (isKnown && request.run.basis != Basis::kGuess && now + request.run.time <= reserved.start->at) {
    const base::WallTime from = std::min(reserved.start->at, conditionFrom(request.run, now, policy));
    return {.kind = Kind::kConditional, .from = from, .endsInTime = true};
  }
  const base::WallTime from = now + policy.preemption.minRuntime;
  if (request.comesFirst) {
    const bool isGuess = request.run.basis == Basis::kGuess;
    return {Kind::kConditional, isGuess ? from : from + request.run.time};
  }
  const bool isStated = reserved.start && reserved.start->basis == Basis::kStated;
  if (!isStated || from <= reserved.start->at) return {Kind::kConditional, from};
  return {.kind = Kind::kReserved,
          .again = reserved.start->at > now ? std::optional(reserved.start->at) : std::nullopt};
}

}  // namespace

bool isImminent(const ExpectedTime& start, bool awaitsLeaving, base::WallTime now) {
  return awaitsLeaving && start.basis == Basis::kStated && start.at <= now + kMinOverrun;
}

base::WallTime conditionFrom(const ExpectedRun& run, base::WallTime now, const model::Policy& policy) {
  const base::WallTime::duration minimum = policy.preemption.minRuntime;
  const base::WallTime::duration most =
      std::max<base::WallTime::duration>(minimum, policy.backfill.reservationLimit);
  if (run.basis == Basis::kGuess) return now + minimum;
  return now + std::clamp<base::WallTime::duration>(run.time, minimum, most);
}

BackfillVerdict lendReserved(const BackfillRequest& request, const ReservedTime& reserved, base::WallTime now,
                             const model::Policy& policy) {
  if (request.isPreemptible) {
    BackfillVerdict lent = lendUntilPreempted(request, reserved, now, policy);
    if (request.inheritedFrom) lent.from = std::min(lent.from, *request.inheritedFrom);
    return lent;
  }
  const bool isKnown = reserved.start && reserved.start->basis != Basis::kGuess;
  if (isKnown && request.deadline && now + *request.deadline <= reserved.start->at) return {};
  const base::WallTime until = keptUntil(reserved.reservingSince, now, policy);
  if (until <= now) return {};
  return {.kind = Kind::kReserved, .again = until};
}

}  // namespace trainyard::core
