#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/place/place.h"

namespace trainyard::core {

// The limits of a running gang that also bind members that join it.
struct JoinLimits {
  std::size_t anchor = 0;    // the node of its first member, by its index in the ledger
  std::size_t required = 0;  // the level that it requires: in the anchor's domain; 0: the cluster
  std::string gpuTypeLabel = {};
  const std::string* gpuType = nullptr;  // of the anchor, which outlives this; nullptr: any type

  [[nodiscard]] bool hasType(const model::Node& node) const;
};

// `gpuType`: the label of the type of GPU; empty if types may be mixed. Empty if the gang
// has no placement, or requires an unknown level.
[[nodiscard]] std::optional<JoinLimits> joinLimitsOf(const model::Job& job, const model::Role& role,
                                                     const std::string& gpuType, const Ledger& ledger,
                                                     const Domains& domains);

// A placement for members that join a running gang.
//
// Assumes: the nearer to the present members, the better, and the limits of the gang (a required level, one
// type of GPU) bind joining members, too. Steps: from the tightest level up to the required one, or the whole
// cluster, within the domain of the gang's first member. The first level at which all of them fit is taken,
// by the rules of place(). Nodes that failed attempts are avoided if possible.
//
// `count` members of the role, with the first unused indices, on none of the `closed` nodes. `gpuType` as for
// joinLimitsOf(). `refusals`: of the ledger's nodes. Empty if they do not fit, or if there is no home.
[[nodiscard]] std::optional<Placement> placeJoining(const model::Job& job, const model::Role& role, int count,
                                                    const std::string& gpuType, const Ledger& ledger,
                                                    const Domains& domains, NodeRefusals& refusals,
                                                    std::vector<model::NodeName> closed = {});

}  // namespace trainyard::core
