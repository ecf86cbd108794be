#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.h"
#include "core/ledger/what_if.h"
#include "core/place/change.h"
#include "core/queues/queue_tree.h"
#include "model/job.h"

namespace trainyard::core {

// What one running gang can give so that another has its places: it stops, or goes elsewhere.
struct Concession {
  std::shared_ptr<const model::Job> job;
  int priority = 0;
  QueueTree::Index queue = QueueTree::kCluster;
  // GPU seconds that are lost (core/order/stop_cost.h), and half an hour's more for a gang that was stopped
  // before, twice as much with each time: or the youngest of many equal ones would go again and again.
  std::int64_t cost = 0;
  QueueTree::Amounts held = {};  // of its queue, QueueTree::holdingsOf()
  NodeAmounts frees = {};        // roomHeldBy(); left empty where nobody asked
  bool isYoung = false;          // minRuntime has not passed: only a holder may preempt it, for its condition
  bool isUnprotected = true;     // protectedUntil() has passed
  bool isStarting = false;       // its capacity is reserved, and its members are on their way
};

// What a claimant gets, and who makes room for it: stops and moves, each of which pays for its start.
struct Claim {
  Placement placement;
  std::vector<Change> concessions;
  // Starts under way that are given up first; the claim follows in a later cycle.
  std::vector<std::shared_ptr<const model::Job>> yields = {};
};

// Lower priority, then less cost, then namespace and name.
void sortByCost(std::vector<Concession>& concessions);

// Whether any of it lies on nodes of the pool (core/timeline/reservation.h).
[[nodiscard]] inline bool touches(const NodeAmounts& frees, const std::vector<char>& pool) {
  return std::any_of(frees.begin(), frees.end(), [&](const auto& each) { return pool[each.first] != 0; });
}

}  // namespace trainyard::core
