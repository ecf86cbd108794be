#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/node_refusals.h"
#include "core/search/joining_members.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Finds what gangs lack of their desired size, where they could get it, and what others have to give.
//
// Assumes: a gang may use a node if it may grow there (core/search/joining_members.h) and one member fits.
// Free capacity counts, and what others hold there beyond their desired size. Nothing is kept or given for
// more members than fit then, nor for a gang that would not take so few (worthPausing()). Steps: 1 gangs that
// may use the same nodes for the same members are one pool; 2 free capacity is used first; 3 a gang gives up
// its last members, as far as one of them serves a pool that lacks GPUs (or members without any). If a node's
// capacity comes from several gangs, it may end with less than was given for it; the next cycles give the
// rest. Ties: pools in the order of their keys.
class UnmetDemand {
 public:
  struct Gangs {
    const model::Snapshot& snapshot;
    const Ledger& ledger;
    const Domains& domains;
    const std::vector<std::shared_ptr<const model::Job>>& missing;  // may get more members
    const std::vector<std::shared_ptr<const model::Job>>& surplus;  // give now, or later
    NodeRefusals& refusals;
  };
  // Everything in `gangs` outlives this object.
  explicit UnmetDemand(const Gangs& gangs);

  // The nodes with capacity, free or given up, that some gang could use; by index in the ledger.
  [[nodiscard]] const std::vector<char>& nodes() const { return usable_; }
  [[nodiscard]] bool couldUseAny(const std::vector<model::Assignment>& assignments) const;
  // Returns how many of its last members the gang has to give, at most `most`. They count as given.
  [[nodiscard]] int take(const model::Job& job, int most);

 private:
  struct Pool {
    std::vector<std::uint32_t> nodes;
    model::Resources each;
    std::int64_t capacity = 0;  // the most members that fit
    std::int64_t members = 0;   // that are missing
    std::int64_t gpus = 0;      // of members without free capacity; members, if they have no GPUs
  };

  void sumCapacity();
  Pool& poolOf(const model::Job& job, const model::Role& role, const JoinLimits& home);
  [[nodiscard]] Pool makePool(const model::Role& role, const JoinLimits& home, Domains::Range domain) const;
  void takeFree();

  Gangs in_;
  std::vector<model::Resources> capacity_;  // by node: free, or beyond a desired size
  std::map<std::string, Pool> pools_;
  std::vector<std::vector<Pool*>> poolsOn_;  // by node: pools that lack more than is free
  std::vector<char> usable_;
};

}  // namespace trainyard::core
