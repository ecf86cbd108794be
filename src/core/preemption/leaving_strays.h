#pragma once

#include <map>
#include <vector>

#include "base/time.h"
#include "core/ledger/ledger.h"
#include "core/ledger/what_if.h"
#include "model/gang.h"

namespace trainyard::core {

// Members that terminate already and whose node no record keeps: of jobs that are suspended, deleted or
// ended, or that restart without a placement. A claim counts on their capacity and waits for them as for its
// victims. (Lost: it waits for them first. A tenant that suspends its jobs one after another delays a
// guarantee by the grace of each.) Members that are late, or on a node that is not ready, do not count:
// victims would be preempted in vain. Nor do gangs in `claimed`, by claimedGangs(): their capacity is another
// claim's.
using ClaimedGangs = std::map<model::ObjectKey, model::ObjectKey>;
[[nodiscard]] NodeAmounts leavingStrays(const Ledger& ledger, const ClaimedGangs& claimed,
                                        base::WallTime now);
// Those on the nodes of these assignments, as victims of the preemptor's claim. Adds their gangs to
// `claimed`.
[[nodiscard]] std::vector<model::Victim> takeLeavingStrays(const std::vector<model::Assignment>& assignments,
                                                           const model::ObjectKey& preemptor,
                                                           const Ledger& ledger, ClaimedGangs& claimed,
                                                           base::WallTime now);

}  // namespace trainyard::core
