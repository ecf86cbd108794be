#pragma once

#include <optional>
#include <vector>

#include "core/ledger/ledger.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Nodes that members of gangs have just left, and that are kept for the first waiting job, the head.
//
// Assumes: members of a gang end within moments of each other, and so do gangs that started together (a
// sweep). Until all of them have ended, what the first few leave looks too small for the head, and large
// enough for somebody small behind it, who then keeps it for hours. Steps: 1 from the first end on a node,
// after BackfillPolicy::keepFreed without any, it is kept for that long: so jobs that come and go all the
// time close it to nobody; 2 of these nodes, those on which a member of the head would fit now. Ties:
// none. (Lost: every node that was left, for as
// long as there are ends: then short jobs on nodes that the head cannot use wait for nothing.)
struct FreedPlaces {
  std::vector<model::NodeName> nodes = {};               // sorted, each once
  std::optional<base::WallTime> nextEnd = std::nullopt;  // when the first of them is free for everybody
};
[[nodiscard]] FreedPlaces freedPlaces(const model::Snapshot& snapshot, const Ledger& ledger,
                                      const model::Job& head);

}  // namespace trainyard::core
