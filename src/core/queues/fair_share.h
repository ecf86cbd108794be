#pragma once

#include <cstdint>
#include <vector>

#include "core/queues/queue_tree.h"

namespace trainyard::core {

// What each queue is entitled to of one resource at this moment, by weighted max-min fairness down the tree
// (water filling): at every level each child first gets what it is guaranteed, as far as it has use for it;
// what is left goes to those who can use more, in proportion to their weights, and what a child cannot use
// goes to its siblings.
//
// `waiting` is what waits in each queue beside what runs, by queue index; a queue's limit bounds its use.
// Whole units: remainders go to the heavier, then to the first by index. The result is by queue index, in the
// resource's unit; that of an inner queue includes the queues below it.
[[nodiscard]] std::vector<std::int64_t> fairShares(const QueueTree& tree, std::size_t dimension,
                                                   const std::vector<std::int64_t>& waiting);

}  // namespace trainyard::core
