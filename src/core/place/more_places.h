#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/place/place.h"

namespace trainyard::core {

// What a gang that runs is bound to: whoever joins it is so as well.
struct Home {
  std::size_t anchor = 0;    // the node of its first member, by its index in the ledger
  std::size_t required = 0;  // the level that it requires: in the anchor's domain there; 0, the cluster
  std::string gpuTypeLabel = {};
  const std::string* gpuType = nullptr;  // of the anchor, which outlives this; nullptr: any type will do

  [[nodiscard]] bool hasType(const model::Node& node) const;
};

// `gpuType`: the label that tells types of GPUs apart; empty where they may be mixed. Nothing where the gang
// has no places, or requires a level that is none.
[[nodiscard]] std::optional<Home> homeOf(const model::Job& job, const model::Role& role,
                                         const std::string& gpuType, const Ledger& ledger,
                                         const Domains& domains);

// Places for members that join a gang that runs.
//
// Assumes: the nearer to those that are there, the better, and what the gang was bound to (a level that it
// requires, one type of GPU) binds those that join. Steps: from the tightest level up to the required one, or
// the whole cluster, inside of the domain where the gang's first member is; the first that has room for all
// of them is taken, by the rules of place(). Nodes that failed attempts are left out where that is possible.
//
// `count` members of the role, from its present size on, on none of the `closed` nodes. `gpuType` as for
// homeOf(), `refusals` of the ledger's nodes. Nothing where there is no room, or the gang has no home.
[[nodiscard]] std::optional<Placement> placeMore(const model::Job& job, const model::Role& role, int count,
                                                 const std::string& gpuType, const Ledger& ledger,
                                                 const Domains& domains, NodeRefusals& refusals,
                                                 std::vector<model::NodeName> closed = {});

}  // namespace trainyard::core
