#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/ledger/what_if.h"
#include "model/job.h"

namespace trainyard::core {

// What the end of a job leaves more than it holds now, or less (negative amounts), as claims that stand pass
// room on: the victims' pods hold it still, their end leaves it to the claimant, and to everybody else only
// the claimant's end does. (Lost: whoever holds room leaves it. Then a reservation is kept on nodes that are
// promised, and others pass on those where it could begin.)
//
// Assumes: a pod is named by one claim. A claim takes of the victims' pods on a node, by name, what its
// members there need, as the ledger does not count it twice either (core/ledger/ledger.h); what the pods hold
// beyond is free when they end.
using PromisedRoom = std::unordered_map<model::Uid, NodeAmounts>;

// `proposing`: the snapshot's jobs that have a proposal.
[[nodiscard]] PromisedRoom promisedRoom(const std::vector<std::shared_ptr<const model::Job>>& proposing,
                                        const Ledger& ledger);

}  // namespace trainyard::core
