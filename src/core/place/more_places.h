#pragma once

#include <optional>
#include <string>

#include "core/place/place.h"

namespace trainyard::core {

// Places for members that join a gang that runs.
//
// Assumes: the nearer to those that are there, the better, and what the gang was bound to (a level that it
// requires, one type of GPU) binds those that join. Steps: from the tightest level up to the required one, or
// the whole cluster, inside of the domain where the gang's first member is; the first that has room for all
// of them is taken, by the rules of place(). Nodes that failed attempts are left out where that is possible.
//
// `count` members of the role, from its present size on. `gpuType`: the label that tells types of GPUs apart;
// empty where they may be mixed. Nothing where there is no room, or the gang has no places.
[[nodiscard]] std::optional<Placement> placeMore(const model::Job& job, const model::Role& role, int count,
                                                 const std::string& gpuType, const Ledger& ledger,
                                                 const Domains& domains);

}  // namespace trainyard::core
