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

// What follows when members of a placed gang were lost.
namespace trainyard::core {

// Where new places are looked for, and what they keep to.
struct Ground {
  Ledger& ledger;
  const Domains& domains;
  const QueueTree& queues;
  const GpuTypes* types = nullptr;  // a gang keeps to one of them; absent: to none
};

struct Replacement {
  model::GangRecord record;
  // The places of record.proposal->add; empty if there is no room, or nothing is added.
  std::vector<model::Assignment> places;
};

// The whole gang starts anew, or only the lost members do, on places planned now, with the room that their
// old pods will leave: of one type of GPU, that of the members which stay, and nowhere where the gang would
// hold more than it did of something of which its queue may have no more. Without room for all an elastic
// gang goes on with the members that are left, if they are enough (spec.elastic.minReplicas,
// gang.minAvailable); every other gang goes back to waiting: a few members alone would hold GPUs for nothing.
[[nodiscard]] Replacement replaceLost(const model::Job& job, const std::vector<Member>& members,
                                      const std::vector<Member>& lost, const Ground& ground,
                                      const Author& author);

}  // namespace trainyard::core
