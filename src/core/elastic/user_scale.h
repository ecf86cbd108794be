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

// Returns how many members of the elastic role the job's user asks for, within its bounds; nothing if the job
// has no such role.
[[nodiscard]] std::optional<int> requestedSize(const model::Job& job);

// Returns true if the user asks for a size that the job does not have.
[[nodiscard]] bool requestsOtherSize(const model::Job& job);

// Returns true if the job should grow by `more`, a part of what it lacks. Until its next resize, those
// members must gain the policy's multiple of what the pause costs.
[[nodiscard]] bool worthPausing(const model::Job& job, std::int64_t more, const model::Snapshot& snapshot);

struct ScaleRequest {
  const model::Snapshot& snapshot;
  Ledger& ledger;  // granted capacity is taken from it
  const Domains& domains;
  QueueTree& queues;  // and charged to it
  // Running gangs, with no change under way, at another size than their user asked for; by key.
  std::vector<std::shared_ptr<const model::Job>> gangs;
  // Returns the pending job that these nodes are kept for, if a gang of this priority would take them;
  // nullptr: there is none.
  std::function<const model::ObjectKey*(const model::Job&, int, const std::vector<model::Assignment>&)>
      reservedFor;
  // The first gang that the last cycle did not reach with its budget; updated to that of this cycle.
  std::optional<model::ObjectKey>& unreached;
  NodeRefusals& refusals;  // cached matches of the snapshot's nodes
};

struct ScaleAnswer {
  std::vector<Change> changes;
  // Why the other gangs wait, or get less than they ask for.
  std::map<model::ObjectKey, std::string> held;
  std::optional<base::WallTime> wakeAt = std::nullopt;
};

// Gives gangs the size that their user asks for (`kubectl scale`, an edit of spec.elastic.replicas).
//
// Assumes: pending jobs go before gangs that grow. Exceptions are the guarantee of the gang's queue, and
// holders of lower priority in the same queue. No gang is preempted for growth. Steps: gangs that ask for
// less give up their last members. Then gangs that ask for more get as many as fit, within their queue's
// limits and near their other members. New requests come first, then the smallest desired share of the
// cluster (dominant, of the resources that count in core/queues/queue_tree.h), then the earliest created.
// Gangs of one queue swap these turns by priority. If the job must restart to grow, a new request gets all or
// nothing. Later it gets a part only if that gains, until the next change, the policy's multiple of its
// pause. A failed attempt's back-off ends first. Ties: namespace and name. (Rejected: least attained service
// first, and its orders of magnitude, then the earliest created. `trainyard replay` of Pollux' workloads,
// elastic and without reports: the mean of the four is 1 % less, but the first workload 7 % later; and 13 %
// more.)
[[nodiscard]] ScaleAnswer scaleAsRequested(const ScaleRequest& request);

}  // namespace trainyard::core
