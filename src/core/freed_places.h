#pragma once

#include <optional>
#include <vector>

#include "model/snapshot.h"

namespace trainyard::core {

// Nodes that gangs have just left, and until when they are kept for the first waiting job.
//
// Assumes: members of a gang end within moments of each other, and so do gangs that started together (a
// sweep). Until all of them have ended, what the first few leave looks too small for whoever comes first, and
// large enough for somebody small behind it, who then keeps it for hours. Steps: every node that a member has
// ended on is kept until BackfillPolicy::keepFreed after that, by what the pod says and, once the job has
// ended, by its completion time; a node whose clock is ahead of ours keeps nothing. Ties: none.
// (Lost: to count the whole gang as about to end once one member has. Of thirty-two tasks that have nothing
// to do with each other the last ends a day after the first.)
struct FreedPlaces {
  std::vector<model::NodeName> nodes = {};               // sorted, each once
  std::optional<base::WallTime> nextEnd = std::nullopt;  // when the first of them is free for everybody
};
[[nodiscard]] FreedPlaces freedPlaces(const model::Snapshot& snapshot);

}  // namespace trainyard::core
