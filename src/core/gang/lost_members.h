#pragma once

#include <string>
#include <vector>

#include "core/gang/gang_proposals.h"
#include "core/gang/outcome.h"
#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/ledger/members.h"
#include "core/place.h"
#include "core/queues/queue_tree.h"
#include "core/search.h"

// What follows when a placed gang has lost members.
namespace trainyard::core {

// Where new places are searched, and the limits that they must meet.
struct PlacementScope {
  Ledger& ledger;
  const Domains& domains;
  const QueueTree& queues;
  const GpuTypes* types = nullptr;  // a gang keeps to one of them; absent: no limit
};

struct Replacement {
  model::GangRecord record;
  // The places of record.proposal->add; empty if none fit, or nothing is added.
  std::vector<model::Assignment> assignments;
};

// Restarts the whole gang, or replaces the lost members only, on places planned now, with the capacity that
// the old pods will release. The places have one type of GPU, that of the staying members. They must not make
// the gang hold more than before of a resource with an exhausted quota. If not all members fit, an elastic
// gang goes on with the remaining ones if they are enough (spec.elastic.minReplicas, gang.minAvailable).
// Every other gang becomes pending again: a few members alone would hold GPUs for nothing.
[[nodiscard]] Replacement replaceLost(const model::Job& job, const std::vector<Member>& members,
                                      const std::vector<Member>& lost, const PlacementScope& placementScope,
                                      const Author& author);

}  // namespace trainyard::core
