#pragma once

#include <optional>
#include <vector>

#include "core/ledger/ledger.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Nodes that members of gangs have just left, and that are kept for the first pending job, the head.
//
// Assumes: members of a gang end within moments of each other, and so do gangs that started together (a
// sweep). Until all of them have ended, the first freed nodes are too few for the head, but enough for a
// small job behind it, which then keeps them for hours. Steps: 1 the first end on a node after
// BackfillPolicy::keepFreed without any keeps the node for that long; short jobs that come and go all the
// time thus close no node. 2 of these nodes, only those count on which a member of the head would fit
// now. Ties: none. (Rejected: every node that was left, for as long as there are ends. Then short jobs on
// nodes that the head cannot use wait for nothing.)
struct RecentlyFreed {
  std::vector<model::NodeName> nodes = {};               // sorted, each once
  std::optional<base::WallTime> nextEnd = std::nullopt;  // when the first of them is free for all jobs
};
[[nodiscard]] RecentlyFreed recentlyFreed(const model::Snapshot& snapshot, const Ledger& ledger,
                                          const model::Job& head);

}  // namespace trainyard::core
