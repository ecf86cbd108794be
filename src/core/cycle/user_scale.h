#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/change.h"
#include "core/place/node_refusals.h"
#include "core/queues/queue_tree.h"
#include "model/snapshot.h"

namespace trainyard::core {

// How many members of its elastic role the job's user asks for, within its bounds; nothing where it has no
// such role.
[[nodiscard]] std::optional<int> askedSize(const model::Job& job);

// Whether that differs from what it has.
[[nodiscard]] bool asksForAnotherSize(const model::Job& job);

// Whether the job is to grow by so many, a part of what it misses: until it may be resized again they have to
// gain so many times what the pause costs it as the policy has it.
[[nodiscard]] bool worthAPause(const model::Job& job, std::int64_t more, const model::Snapshot& snapshot);

struct ScaleRequest {
  const model::Snapshot& snapshot;
  Ledger& ledger;  // what is given is taken from it
  const Domains& domains;
  QueueTree& queues;  // likewise
  // Gangs that run in peace at another size than was asked for, by key.
  std::vector<std::shared_ptr<const model::Job>> gangs;
  // For whom who waits places are kept that whoever gets these, with his priority, would take; nullptr: for
  // nobody.
  std::function<const model::ObjectKey*(const model::Job&, int, const std::vector<model::Assignment>&)>
      keptFor;
  // Whom the last cycle did not reach, its work spent; then this one.
  std::optional<model::ObjectKey>& unreached;
  NodeRefusals& refusals;  // what is known of the snapshot's nodes
};

struct ScaleAnswer {
  std::vector<Change> changes;
  // Why others have to wait, or get less than they ask for.
  std::map<model::ObjectKey, std::string> held;
  std::optional<base::WallTime> wakeAt = std::nullopt;
};

// The user's wish (`kubectl scale`, an edit of spec.elastic.replicas), carried out where there is room.
//
// Assumes: who waits for places goes before who wants more of them, but for what the other's queue is
// guaranteed, and for a lower priority in one queue; nobody is stopped for it. Steps: who
// asks for less gives up the last members; then who asks for more gets as many as there is room for below the
// limits of its queue, near to what it has: first whose user has just asked, then whose wish is the smallest
// share of the cluster (dominant, of the resources that count in core/queues/queue_tree.h), then the earliest
// created; the gangs of one queue take the turns that they have so in the order of their priorities. Where
// the job must be restarted for it, its user is given all or nothing; later a part only where that gains,
// until the next change may come, so many times its pause as the policy has it. After an attempt that failed
// not before its back-off has ended. Ties: namespace and name. (Lost: least attained service first, and its
// orders of magnitude, then the earliest created. `trainyard replay` of Pollux' workloads, elastic and
// without reports: the mean of the four is 1 % less, but the first workload 7 % later; and 13 % more.)
[[nodiscard]] ScaleAnswer scaleAsAsked(const ScaleRequest& request);

}  // namespace trainyard::core
