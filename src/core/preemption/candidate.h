#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.h"
#include "core/ledger/what_if.h"
#include "core/place/change.h"
#include "core/queues/queue_tree.h"
#include "model/job.h"
#include "model/snapshot.h"

namespace trainyard::core {

// What one running gang can give so that another has its placement: it is preempted, or it moves.
struct Candidate {
  std::shared_ptr<const model::Job> job;
  int priority = 0;
  QueueTree::Index queue = QueueTree::kCluster;
  // GPU seconds lost (core/order/preemption_cost.h), plus half an hour for each GPU if other queues preempted
  // it before, doubled with each time: else the youngest of equal gangs would be preempted each time.
  std::int64_t cost = 0;
  Amounts held = {};       // charged to its queue, holdingsOf()
  NodeAmounts frees = {};  // capacityHeldBy(); filled only for candidates
  bool isWithinMinRuntime =
      false;                  // minRuntime has not passed: only a holder may preempt it, for its condition
  bool isUnprotected = true;  // protectedUntil() has passed
  bool isStarting = false;    // its capacity is reserved, and its members are not bound yet
};

// What a preemptor gets, and the changes that release it: preemptions, moves and shrinks.
struct Claim {
  Placement placement;
  std::vector<Change> releases;
  // Starts under way that are given up first. The claim follows in a later cycle.
  std::vector<std::shared_ptr<const model::Job>> yields = {};
};

// A placed gang that may not be preempted yet: it is within its minRuntime, or shrinks for another claim.
struct LaterCandidate {
  std::shared_ptr<const model::Job> job;
  int priority = 0;
  base::WallTime from{};  // from when on it may be preempted; at the latest, if it shrinks
};

// How long victims of this job take to be gone, at most.
[[nodiscard]] std::chrono::seconds graceOf(const model::Job& job, const model::Policy& policy);

// The gang, if it shrinks from now on.
[[nodiscard]] LaterCandidate afterShrink(std::shared_ptr<const model::Job> job, int priority,
                                         const model::Snapshot& snapshot);

// Lower priority, then less cost, then namespace and name.
void sortByCost(std::vector<Candidate>& candidates);

// Whether any of these amounts is on a node of the pool (core/timeline/reservation.h).
[[nodiscard]] inline bool touches(const NodeAmounts& frees, const std::vector<char>& pool) {
  return std::any_of(frees.begin(), frees.end(), [&](const auto& each) { return pool[each.first] != 0; });
}

}  // namespace trainyard::core
