#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/planner/cost_model.h"

namespace trainyard::core {

// The pools for the workers of a shape: those with the most workers per node first, between them the ones
// with the faster network, then in their given order.
[[nodiscard]] std::vector<std::size_t> orderedForWorkers(const std::vector<NodePool>& pools,
                                                         std::vector<std::size_t> among);

// Spreads workers over `nodes` nodes, as evenly as the nodes' sizes allow, with the first nodes of `order`.
// Returns nullopt if they do not fit, or some node would have none.
[[nodiscard]] std::optional<Spread> spreadWorkers(const std::vector<NodePool>& pools,
                                                  const std::vector<std::size_t>& order, int workers,
                                                  int nodes);

// The pools for servers on separate nodes: those without space for workers first, between them the ones with
// the faster network, then in their given order.
[[nodiscard]] std::vector<std::size_t> orderedForServers(const std::vector<NodePool>& pools);

// Add servers to a spread of workers, evenly beside them, or on separate nodes in `order`, as many nodes as
// there are. Return nullopt if they do not fit.
[[nodiscard]] std::optional<Spread> addColocatedServers(const std::vector<NodePool>& pools,
                                                        const Spread& workers, int servers);
[[nodiscard]] std::optional<Spread> addSeparateServers(const std::vector<NodePool>& pools,
                                                       const std::vector<std::size_t>& order,
                                                       const Spread& workers, int servers);

}  // namespace trainyard::core
