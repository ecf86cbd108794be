#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/ledger/what_if.h"
#include "core/place/place.h"
#include "core/search/gang_placer.h"
#include "model/job.h"

namespace trainyard::core {

// What one elastic gang may give so that another has its placement: its last members.
struct Shrinkable {
  std::shared_ptr<const model::Job> job;
  int most = 0;            // the most members that it may give to this preemptor
  NodeAmounts frees = {};  // one entry for each of them, the last member first
};

struct ShrinkQuestion {
  const model::Job& preemptor;
  std::size_t widest = 0;                     // how wide it may be placed
  const std::vector<Shrinkable>& candidates;  // cheapest first
  Ledger& ledger;                             // unchanged afterwards
  GangPlacer& placer;
  // Whether quotas permit the preemptor when each gang gives so many; more never permit less.
  const std::function<bool(const std::vector<int>&)>& quotaAllows;
  // A placement in the ledger as it is, permitted by the quotas at that time.
  const std::function<std::optional<Placement>(const std::vector<int>&)>& place;
};

struct ShrinkChoice {
  std::vector<int> gives;  // by candidate
  Placement placement;
};

// Which gangs shrink, and by how much, so that the preemptor has a placement while all run on. Empty
// if even all that may be given does not suffice.
//
// Assumes: giving more only adds free capacity. Steps: 1 the shortest run of the cheapest candidates that
// suffices, each giving all that it may; 2 from the most expensive one down, each keeps as many members as it
// can, by bisection: the preemptor gets what it needs, and no more. Ties: the order of the candidates.
// (Rejected: the least sum of members. It may shrink many gangs for one member less, and each of them
// pauses.)
[[nodiscard]] std::optional<ShrinkChoice> chooseShrinks(const ShrinkQuestion& question);

}  // namespace trainyard::core
