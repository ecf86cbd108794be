#pragma once

#include <string>
#include <vector>

#include "core/ledger/ledger.h"
#include "model/gang.h"
#include "model/topology.h"

namespace trainyard::core {

// Describes a placement: "node n1", "4 nodes in rack zone-a/block-1/rack-3", "9 nodes over 2 blocks".
[[nodiscard]] std::string describePlacement(const std::vector<model::Assignment>& assignments,
                                            const Ledger& ledger,
                                            const std::vector<model::TopologyLevel>& topology);

}  // namespace trainyard::core
