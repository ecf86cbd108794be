#include "model/reasons.h"

#include "base/enum_table.h"

namespace trainyard::model {

static_assert(base::hasRowForEach(kDelayKinds, &DelayKindTraits::kind), "one row each, in order");
static_assert(base::hasRowForEach(kPendingReasons, &PendingReasonTraits::reason), "one row each, in order");

std::string_view toString(DelayKind kind) { return kDelayKinds.at(static_cast<std::size_t>(kind)).name; }

std::optional<DelayKind> parseDelayKind(std::string_view text) {
  for (const DelayKindTraits& each : kDelayKinds) {
    if (each.name == text) return each.kind;
  }
  return std::nullopt;
}

std::string_view toString(PendingReason reason) { return traitsOf(reason).name; }

std::optional<PendingReason> parsePendingReason(std::string_view text) {
  for (const PendingReasonTraits& each : kPendingReasons) {
    if (each.reason != PendingReason::kOther && each.name == text) return each.reason;
  }
  return std::nullopt;
}

}  // namespace trainyard::model
