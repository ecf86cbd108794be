#pragma once

#include <functional>
#include <set>

#include "core/ledger/ledger.h"
#include "core/order/order_policy.h"
#include "core/queues/queue_tree.h"
#include "core/search/gang_placer.h"
#include "core/search/job_notes.h"
#include "core/timeline/ends.h"
#include "model/snapshot.h"

namespace trainyard::core {

// What the searches for victims of one cycle share.
struct PreemptionContext {
  // The position of a running job in the order of its queue.
  using QueuePositionOf = std::function<QueuePosition(const model::Job&, int priority)>;

  const model::Snapshot& snapshot;
  const JobNotes& notes;  // match the snapshot
  Ledger& ledger;
  QueueTree& tree;
  GangPlacer& placer;
  Ends& ends;
  RunTimeModel& runs;
  QueuePositionOf queuePositionOf;
  bool awaitsTerminating = false;     // limits count gangs that terminate already as gone
  std::set<const model::Job*> taken;  // gangs that change, or that a claim of this cycle has taken
};

}  // namespace trainyard::core
