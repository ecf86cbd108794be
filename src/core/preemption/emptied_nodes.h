#pragma once

#include <cstddef>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/node_refusals.h"
#include "core/preemption/candidate.h"

namespace trainyard::core {

// Sets of gangs to preempt, so that nodes become free for the preemptor's members. chooseVictims()
// starts its search from them; they are not its answer.
//
// Assumes: the largest members decide. Steps: 1 for every node, the number of members that fit beside gangs
// that cannot be preempted, and the gangs that must go for that. 2 In each domain of the widest level that is
// acceptable: the nodes with the fewest gangs per member first, then the cheaper, until all members fit. 3 Of
// the domains the kMaxDomains with the fewest gangs. Ties: earlier path.
[[nodiscard]] std::vector<std::vector<std::size_t>> cheapestNodes(
    const model::Job& preemptor, std::size_t widest, const std::vector<Candidate>& candidates,
    const std::vector<std::size_t>& together, const Ledger& ledger, const Domains& domains,
    NodeRefusals& refusals);

inline constexpr std::size_t kMaxDomains = 3;

}  // namespace trainyard::core
