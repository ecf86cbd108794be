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

// Dorm's three terms, as they are once a plan has come true; of all GPUs, and of the elastic jobs.
struct SizeTerms {
  std::int64_t utilizationPermille = 0;   // GPUs that are held
  std::int64_t fairnessLossPermille = 0;  // of the most that it can be: twice the kinds of resources
  int adjustments = 0;                    // jobs resized
  std::int64_t boundPermille = 0;         // what is reached, of what no sizes could exceed
  friend bool operator==(const SizeTerms&, const SizeTerms&) = default;
};

struct ResizeRequest {
  const model::Snapshot& snapshot;
  Ledger& ledger;  // what is given is taken from it
  const Domains& domains;
  QueueTree& queues;                                            // likewise
  const std::vector<std::shared_ptr<const model::Job>>& gangs;  // preemptible, placed and at peace
  // Whether anybody who waits could use these places: they are kept for him then.
  std::function<bool(const model::Job&, const std::vector<model::Assignment>&)> wanted;
  // Those that this plan changes or stops already, and those whose places somebody claims.
  std::function<bool(const model::Job&)> takesPart;
  FitCache& fits;
  NodeRefusals& refusals;  // what is known of the snapshot's nodes
};

struct ResizeAnswer {
  std::vector<Change> changes;  // growth and shrinking that pay for nobody
  std::optional<base::WallTime> wakeAt = std::nullopt;
  std::optional<SizeTerms> terms = std::nullopt;  // absent where no gang could have another size
};

// Phase 8: elastic gangs that have what their users wish get what nobody waits for.
//
// Assumes: core/resize/size_search.h. Between the user's wish (or what the gang has, where that is less) and
// its most a gang may have any size. A size is worth the part of the cluster that its members use, times its
// speed-up for a member where its curve is known (core/resize/speed_curve.h), which is tried at most to twice
// the largest size that was ever measured, declared, or predicted by its profile (core/planner/size_plan.h).
// To change it costs the policy's gain times the pause (core/resize/surplus.h), as part of the time until the
// next look: the gang's cooldown, or what is left of its estimate. Gangs in their cooldown keep their size,
// and those with constraints so long that a cycle does not compare all of them with all nodes do not grow
// (core/cycle/long_constraints.h).
// Wishes come first: as long as some gang has less than its wish, others give back what they have beyond
// theirs on nodes that it may use, and do not grow there. As long as the fairness loss is above theta 1
// nobody grows beyond its fair part, and where nothing is free for those below theirs, those with the most
// beyond it give them members, as many as theta 1 wants. Steps: 1 sizes for all; 2 who grows gets places
// near its members (core/place/more_places.h), half as many where there are none for all, within the limits
// of its queue, and none that anybody waits for; 3 who shrinks gives up its last members, whose room others
// get in a later cycle. Ties: namespace and name.
[[nodiscard]] ResizeAnswer resizeGangs(const ResizeRequest& request);

}  // namespace trainyard::core
