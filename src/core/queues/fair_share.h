#pragma once

#include <cstdint>
#include <vector>

#include "core/queues/queue_tree.h"

namespace trainyard::core {

// The share of each queue of one resource at this moment, by weighted max-min fairness down
// the tree (water filling). At every level each child first gets its guarantee, as far as it
// can use it. The rest goes to the children that can use more, in proportion to their
// weights; what a child cannot use goes to its siblings.
//
// `waiting`: the pending demand of each queue in addition to its usage, by queue index; a queue's limit
// bounds both. Shares are whole units: remainders go to the heavier, then to the first by index. The result
// is by queue index, in the resource's unit; that of an inner queue includes the queues below it.
[[nodiscard]] std::vector<std::int64_t> fairShares(const QueueTree& tree, std::size_t dimension,
                                                   const std::vector<std::int64_t>& waiting);

}  // namespace trainyard::core
