#pragma once

#include <string>
#include <vector>

#include "core/gang/gang_proposals.h"
#include "core/gang/outcome.h"
#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/ledger/members.h"
#include "core/place/place.h"

// What follows when members of a placed gang were lost.
namespace trainyard::core {

struct Replacement {
  model::GangRecord record;
  // The places of record.proposal->add; empty where there is no room.
  std::vector<model::Assignment> places;
};

// The whole gang starts anew, or only the lost members do, on places planned now, with the room that their
// old pods will leave. Without room the gang goes back to waiting: a few members alone would hold GPUs for
// nothing.
[[nodiscard]] Replacement replaceLost(const model::Job& job, const std::vector<Member>& members,
                                      const std::vector<Member>& lost, Ledger& ledger, const Domains& domains,
                                      const Author& author);

}  // namespace trainyard::core
