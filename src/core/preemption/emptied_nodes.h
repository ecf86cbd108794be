#pragma once

#include <cstddef>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/node_refusals.h"
#include "core/preemption/concession.h"

namespace trainyard::core {

// Sets of gangs whose nodes a claimant's members fit on once they have gone, for chooseStops(): a beginning,
// not an answer.
//
// Assumes: members that want most decide. Steps: 1 every node is worth the members that fit there beside whom
// nobody may stop, and costs the gangs that must go; 2 in each domain of the widest level that will do, nodes
// with the fewest gangs for a member first, then the cheaper, until all members have a place; 3 of the
// domains the kMostDomains with the fewest gangs. Ties: earlier path.
[[nodiscard]] std::vector<std::vector<std::size_t>> cheapestNodes(
    const model::Job& claimant, std::size_t widest, const std::vector<Concession>& candidates,
    const std::vector<std::size_t>& together, const Ledger& ledger, const Domains& domains,
    NodeRefusals& refusals);

inline constexpr std::size_t kMostDomains = 3;

}  // namespace trainyard::core
