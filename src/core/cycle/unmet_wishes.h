#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/more_places.h"
#include "core/place/node_refusals.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Whether anybody may be given places on the node.
[[nodiscard]] bool isOpen(const model::Node& node);

// What gangs have less than their users wish, where they could have it, and what others have to give for it.
//
// Assumes: a node is of use to a gang that may join there (core/place/more_places.h), and where what is free
// together with all that others have beyond their wishes is enough for one member. Nothing is kept, and
// nobody gives, for more than so many as there is room for then; nor for a gang that would not take so few
// (worthAPause()). Steps: 1 gangs that may use the same nodes for the same members are one pool; 2 what is
// free costs nobody anything; 3 who gives, gives its last members, as far as any of them serves a pool that
// still misses GPUs (or members without any). Nodes whose room has to come from several givers may have less
// in the end than was given for them: the next cycles give the rest. Ties: pools in the order of their keys.
class UnmetWishes {
 public:
  struct Gangs {
    const model::Snapshot& snapshot;
    const Ledger& ledger;
    const Domains& domains;
    const std::vector<std::shared_ptr<const model::Job>>& missing;  // who may have more
    const std::vector<std::shared_ptr<const model::Job>>& surplus;  // who gives now, or later
    NodeRefusals& refusals;
  };
  // All of it outlives this.
  explicit UnmetWishes(const Gangs& gangs);

  // The nodes of which somebody could use what is free or given up there, by their index in the ledger.
  [[nodiscard]] const std::vector<char>& nodes() const { return usable_; }
  [[nodiscard]] bool couldUseAny(const std::vector<model::Assignment>& places) const;
  // How many of its last members the gang has to give, `most` at most; counts as given.
  [[nodiscard]] int take(const model::Job& job, int most);

 private:
  struct Pool {
    std::vector<std::uint32_t> nodes;
    model::Resources each;
    std::int64_t room = 0;     // for so many members at most
    std::int64_t members = 0;  // that are missing
    std::int64_t gpus = 0;     // of those for which nothing is free; members where they have none
  };

  void addUpRoom();
  Pool& poolOf(const model::Job& job, const model::Role& role, const Home& home);
  [[nodiscard]] Pool makePool(const model::Role& role, const Home& home, Domains::Range domain) const;
  void takeFree();

  Gangs in_;
  std::vector<model::Resources> room_;  // by node: free, or beyond somebody's wish
  std::map<std::string, Pool> pools_;
  std::vector<std::vector<Pool*>> poolsOn_;  // by node, those that miss more than is free
  std::vector<char> usable_;
};

}  // namespace trainyard::core
