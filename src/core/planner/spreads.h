#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/planner/cost_model.h"

namespace trainyard::core {

// The pools in which the workers of a shape may lie: those with most room on a node first, of those the ones
// with the faster network, then as they come.
[[nodiscard]] std::vector<std::size_t> orderedForWorkers(const std::vector<NodePool>& pools,
                                                         std::vector<std::size_t> among);

// Workers on so many nodes, as even as the nodes' sizes allow; the first nodes of that order are used.
// Nothing where they do not fit, or some node would have none.
[[nodiscard]] std::optional<Spread> spreadWorkers(const std::vector<NodePool>& pools,
                                                  const std::vector<std::size_t>& order, int workers,
                                                  int nodes);

// The pools in which servers without workers beside them may lie: those without room for workers first, of
// those the ones with the faster network, then as they come.
[[nodiscard]] std::vector<std::size_t> orderedForServers(const std::vector<NodePool>& pools);

// The same with servers evenly beside the workers, and with servers on nodes of their own, as many as there
// are, in that order. Nothing where they do not fit.
[[nodiscard]] std::optional<Spread> addServersBeside(const std::vector<NodePool>& pools,
                                                     const Spread& workers, int servers);
[[nodiscard]] std::optional<Spread> addServersApart(const std::vector<NodePool>& pools,
                                                    const std::vector<std::size_t>& order,
                                                    const Spread& workers, int servers);

}  // namespace trainyard::core
