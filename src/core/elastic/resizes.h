#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/change.h"
#include "core/place/node_refusals.h"
#include "core/planner.h"
#include "core/queues/queue_tree.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Dorm's three terms after the plan has been carried out, for all GPUs and the elastic jobs.
struct SizeTerms {
  std::int64_t utilizationPermille = 0;   // GPUs that are held
  std::int64_t fairnessLossPermille = 0;  // of its maximum: twice the number of resource kinds
  int adjustments = 0;                    // jobs resized
  std::int64_t boundPermille = 0;         // the value reached, of a bound that no sizes could exceed
  friend bool operator==(const SizeTerms&, const SizeTerms&) = default;
};

struct ResizeRequest {
  const model::Snapshot& snapshot;
  Ledger& ledger;  // granted capacity is taken from it
  const Domains& domains;
  QueueTree& queues;                                            // and charged to it
  const std::vector<std::shared_ptr<const model::Job>>& gangs;  // preemptible, placed, no change under way
  // Returns true if a pending job could use these nodes: they are then kept for it.
  std::function<bool(const model::Job&, const std::vector<model::Assignment>&)> wanted;
  // Returns true for gangs that this plan already changes or preempts, and for gangs named by a claim.
  std::function<bool(const model::Job&)> takesPart;
  FitCache& fits;
  NodeRefusals& refusals;  // cached matches of the snapshot's nodes
};

struct ResizeAnswer {
  std::vector<Change> changes;  // growth and shrinking that no start requires
  std::optional<base::WallTime> wakeAt = std::nullopt;
  std::optional<SizeTerms> terms = std::nullopt;  // absent if no gang could have another size
};

// Phase 8: elastic gangs at their desired size grow into capacity that no job waits for.
//
// Assumes: core/resize/size_search.h. A gang may have any size from its desired size (or its present size, if
// that is smaller) to its maximum. A size is worth the part of the cluster that its members use, times the
// speed-up per member if the gang's curve is known (core/resize/speed_curve.h). The curve is followed up to
// twice the largest size that was ever measured, declared, or predicted by its profile
// (core/planner/size_plan.h). A change costs the policy's gain times the pause (core/resize/surplus.h), as
// part of the time until the next decision. That is the gang's cooldown, or the rest of its estimate. Gangs
// in their cooldown keep their size. Gangs with constraints too long for a cycle to compare with all nodes do
// not grow (core/elastic/long_constraints.h).
// Desired sizes come first. While a gang is below its desired size, others give back their excess on nodes
// that it may use, and do not grow there. While the fairness loss is above theta 1, no gang grows beyond its
// fair part. If nothing is free for gangs below theirs, those with the largest excess give them members, as
// many as theta 1 requires. Steps: 1 sizes for all; 2 a gang that grows gets nodes near its members
// (core/search/joining_members.h), half as many if not all fit; they are within its queue's limits, and no
// pending job waits for them; 3 a gang that shrinks gives up its last members; others get that capacity in a
// later cycle. Ties: namespace and name.
[[nodiscard]] ResizeAnswer resizeGangs(const ResizeRequest& request);

}  // namespace trainyard::core
