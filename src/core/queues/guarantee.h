#pragma once

#include <cstddef>

#include "core/queues/guarantee_shares.h"
#include "core/queues/queue_tree.h"

namespace trainyard::core {

// What queues are guaranteed and what they borrow. docs/queues.md states the rules for administrators.
//
// Guaranteed capacity must be usable, so a guarantee of one resource covers the others that its jobs need. An
// amount that spec.guaranteed names, or that the queues below are guaranteed in sum, is covered as it is.
// GuaranteeShares computes how much of each other resource is covered. A guarantee of another resource never
// covers GPUs.
// (Rejected: nothing but what is named. A guarantee of GPUs was void for every job that needs a core as soon
// as another queue was guaranteed one.)
//
// If nodes differ, a job may need more than that part, because its nodes have more for each GPU. So there are
// two bounds: in proportion, and at most, with as much for each guaranteed GPU as the node that has the most.
// (Rejected: in proportion alone. A job for the larger nodes had no guarantee. Rejected: at most alone. One
// guaranteed GPU could keep all cores of a smaller node.)
enum class Bound { kInProportion, kAtMost };

struct Coverage {
  Amounts inProportion;
  Amounts atMost;
};
// Reads the guarantees and the capacity of the tree.
[[nodiscard]] Coverage coverageOf(const QueueTree& tree, const GuaranteeShares& shares,
                                  QueueTree::Index queue);

// Whether the queue is guaranteed a resource in `more` by name, and its guarantee covers all of `more` beside
// what the queue holds. GPUs of a known type count against the guarantee of that type, then against the part
// of the guarantee that is not tied to a type.
[[nodiscard]] bool guaranteeAdmits(const QueueTree& tree, QueueTree::Index queue, const Amounts& more,
                                   Bound bound);
// Whether the guarantee of the queue, or of one above it, admits this much more. One suffices: what a sibling
// borrows below the same parent does not end a queue's guarantee, and a parent's is for all queues below it.
// isWithinGuaranteeBelow() looks at the queues from `branch` down.
[[nodiscard]] bool isWithinGuarantee(const QueueTree& tree, QueueTree::Index queue, const Amounts& more,
                                     Bound bound = Bound::kAtMost);
[[nodiscard]] bool isWithinGuaranteeBelow(const QueueTree& tree, QueueTree::Index branch,
                                          QueueTree::Index queue, const Amounts& more, Bound bound);

// What a gang gives up, and what it holds in all.
struct Yield {
  const Amounts& given;
  const Amounts& held;
  // The preemptor is of a queue below the gang's: what that queue is guaranteed beyond its children counts.
  bool isOfOwnJobs = false;
};
// Whether the gang of this queue holds borrowed capacity in what it gives up of `wanted`:
//  - it holds nothing that the queue is guaranteed by name, or
//  - the queue holds more of a wanted resource than its guarantee covers, and the gang has a part in that.
//    Each gang has a part in GPUs. It has a part in another resource if it holds more of it than is covered
//    for what the gang holds of the queue's guarantee: no gang loses guaranteed GPUs because another gang of
//    its queue took cores.
// A gang's part of a guarantee is in proportion to what it holds, so ten gangs do not each count all of it.
[[nodiscard]] bool yieldsBorrowed(const QueueTree& tree, QueueTree::Index queue, const Yield& yield,
                                  const Amounts& wanted, Bound bound);
// As yieldsBorrowed(), for fair share, which compares only the resources that count in shares. A gang that
// gives up GPUs gives them for GPUs, and for other resources only if the whole cluster is short of them.
// (Rejected: always. Idle cores that its jobs use beyond their part would cost a queue GPUs that it is
// guaranteed.)
[[nodiscard]] bool yieldsShare(const QueueTree& tree, QueueTree::Index queue, const Yield& yield,
                               const Amounts& wanted);

}  // namespace trainyard::core
