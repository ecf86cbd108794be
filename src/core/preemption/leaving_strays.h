#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/time.h"
#include "core/ledger/ledger.h"
#include "core/ledger/what_if.h"
#include "core/preemption/candidate.h"
#include "model/gang.h"

namespace trainyard::core {

// A member that terminates already and whose node no record keeps: of a job that is suspended, deleted or
// ended, or that restarts without a placement. A claim of a job within its guarantee may count on its
// capacity, and waits for it as for a victim. (Lost: only what has terminated counts. A tenant that deletes
// its jobs one after another delays a guarantee by the grace of each. Lost: any claim counts on such members.
// Claims of borrowers took them first.)
struct Stray {
  std::size_t node = 0;  // index into Ledger::nodes()
  model::Victim pod;
  model::Resources amount;
  base::WallTime goneBy{};  // its metadata.deletionTimestamp
};

// Those that a claim may name, the first to go first. Left out are those that the proposal of a job in
// `proposing` names, and those that are late or on a node that is not ready: victims would be preempted in
// vain.
[[nodiscard]] std::vector<Stray> leavingStrays(
    const Ledger& ledger, const std::vector<std::shared_ptr<const model::Job>>& proposing,
    base::WallTime now);

[[nodiscard]] NodeAmounts amountsOf(const std::vector<Stray>& strays);

// Removes those that the claim needs, and returns them: on each of its nodes as many as have to go, beside
// its other victims, until it fits. None if it does not count on any.
[[nodiscard]] std::vector<model::Victim> takeNeeded(std::vector<Stray>& strays, const model::Job& preemptor,
                                                    const Claim& claim, const Ledger& ledger);

}  // namespace trainyard::core
