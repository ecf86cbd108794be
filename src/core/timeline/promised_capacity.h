#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/ledger/what_if.h"
#include "model/job.h"

namespace trainyard::core {

// What the end of a job frees beyond what it holds now, or less (negative amounts), because standing
// claims pass capacity on. The victims' pods still hold it, but their end leaves it to the preemptor; only
// the preemptor's end frees it for all. (Rejected: the pods that hold capacity free it. Then a reservation is
// kept on nodes that are promised, and other gangs take those on which its holder could start.)
//
// Assumes: one claim at most names a pod. On a node, a claim takes from the victims' pods, in the order
// of names, what its members there need; the ledger counts that once, too (core/ledger/ledger.h). The
// rest of what the pods hold is free when they end.
using PromisedCapacity = std::unordered_map<model::Uid, NodeAmounts>;

// `proposing`: the snapshot's jobs that have a proposal.
[[nodiscard]] PromisedCapacity promisedCapacity(
    const std::vector<std::shared_ptr<const model::Job>>& proposing, const Ledger& ledger);

}  // namespace trainyard::core
