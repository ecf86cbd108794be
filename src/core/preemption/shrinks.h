#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/ledger/what_if.h"
#include "core/place/gang_placer.h"
#include "core/place/place.h"
#include "model/job.h"

namespace trainyard::core {

// What one elastic gang may give so that another has its places: its last members.
struct Shrinkable {
  std::shared_ptr<const model::Job> job;
  int most = 0;            // it may give up so many to this claimant
  NodeAmounts frees = {};  // one entry for each of them, the last member first
};

struct ShrinkQuestion {
  const model::Job& claimant;
  std::size_t widest = 0;                     // how wide it may be placed
  const std::vector<Shrinkable>& candidates;  // cheapest first
  Ledger& ledger;                             // as it was afterwards
  GangPlacer& placer;
  // Whether quotas permit the claimant when each gives so many; more never permit less.
  const std::function<bool(const std::vector<int>&)>& quotaAllows;
  // Its places in the ledger as it is, which quotas permit then.
  const std::function<std::optional<Placement>(const std::vector<int>&)>& place;
};

struct ShrinkChoice {
  std::vector<int> gives;  // by candidate
  Placement placement;
};

// Who shrinks, and by how much, so that the claimant has its places while all run on; nothing where even all
// that may be given does not suffice.
//
// Assumes: who gives more makes room only. Steps: 1 the shortest run of the cheapest that suffices, each
// giving all that it may; 2 from the dearest of them down, each keeps as many members as it can, by
// bisection: the claimant is given what it needs, and no more. Ties: the order of the candidates. (Lost: the
// least sum of members. It may touch many gangs for one member less, and each of them pauses.)
[[nodiscard]] std::optional<ShrinkChoice> chooseShrinks(const ShrinkQuestion& question);

}  // namespace trainyard::core
