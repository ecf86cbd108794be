#include "core/planner/spreads.h"

#include <algorithm>
#include <tuple>

namespace trainyard::core {
namespace {

// A number of the pool's nodes.
struct Used {
  std::size_t pool = 0;
  int nodes = 0;
};

void addPart(Spread& spread, std::size_t pool, int nodes, int workers, int servers) {
  if (nodes > 0 && workers + servers > 0) spread.parts.push_back({pool, nodes, workers, servers});
}

int usedOf(const Spread& spread, std::size_t pool) {
  int nodes = 0;
  for (const Spread::Part& part : spread.parts) nodes += part.pool == pool ? part.nodes : 0;
  return nodes;
}

// For nodes that each take up to `capacityOf` members: the largest number on any node when they are filled
// evenly, and how many nodes at that number take one less.
struct Level {
  int height = 0;
  int surplus = 0;
};

template <typename CapacityOf>
std::optional<Level> levelFor(const std::vector<Used>& used, int members, CapacityOf capacityOf) {
  int highest = 0;
  for (const Used& each : used) highest = std::max(highest, capacityOf(each.pool));
  for (int height = 1; height <= highest; ++height) {
    int available = 0;
    for (const Used& each : used) available += each.nodes * std::min(height, capacityOf(each.pool));
    if (available >= members) return Level{height, available - members};
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::size_t> orderedForWorkers(const std::vector<NodePool>& pools,
                                           std::vector<std::size_t> among) {
  std::erase_if(among, [&](std::size_t pool) { return pools[pool].workersPerNode() < 1; });
  std::sort(among.begin(), among.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(-pools[a].workersPerNode(), -pools[a].nicBytesPerSecond, a) <
           std::tuple(-pools[b].workersPerNode(), -pools[b].nicBytesPerSecond, b);
  });
  return among;
}

std::optional<Spread> spreadWorkers(const std::vector<NodePool>& pools, const std::vector<std::size_t>& order,
                                    int workers, int nodes) {
  std::vector<Used> used;
  int left = nodes;
  for (const std::size_t pool : order) {
    const int taken = std::min(left, pools[pool].nodes);
    if (taken > 0) used.push_back({pool, taken});
    left -= taken;
  }
  if (left > 0 || workers < nodes) return std::nullopt;
  const auto capacityOf = [&](std::size_t pool) { return pools[pool].workersPerNode(); };
  const auto level = levelFor(used, workers, capacityOf);
  if (!level) return std::nullopt;
  Spread spread;
  int surplus = level->surplus;
  for (const Used& each : used) {
    const int full = std::min(level->height, capacityOf(each.pool));
    const int lower = full == level->height ? std::min(surplus, each.nodes) : 0;
    if (lower > 0 && full == 1) return std::nullopt;
    surplus -= lower;
    addPart(spread, each.pool, each.nodes - lower, full, 0);
    addPart(spread, each.pool, lower, full - 1, 0);
  }
  return spread;
}

std::optional<Spread> addColocatedServers(const std::vector<NodePool>& pools, const Spread& workers,
                                          int servers) {
  Spread spread;
  const int nodes = workers.nodes();
  const int each = servers / nodes;
  int more = servers % nodes;
  for (const Spread::Part& part : workers.parts) {
    const int fuller = std::min(more, part.nodes);
    more -= fuller;
    const int available = pools[part.pool].colocatedServers[static_cast<std::size_t>(part.workers)];
    if (available < each + (fuller > 0 ? 1 : 0)) return std::nullopt;
    addPart(spread, part.pool, fuller, part.workers, each + 1);
    addPart(spread, part.pool, part.nodes - fuller, part.workers, each);
  }
  return spread;
}

std::vector<std::size_t> orderedForServers(const std::vector<NodePool>& pools) {
  std::vector<std::size_t> order;
  for (std::size_t pool = 0; pool < pools.size(); ++pool) {
    if (!pools[pool].colocatedServers.empty() && pools[pool].colocatedServers.front() > 0)
      order.push_back(pool);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(pools[a].workersPerNode() > 0, -pools[a].nicBytesPerSecond, a) <
           std::tuple(pools[b].workersPerNode() > 0, -pools[b].nicBytesPerSecond, b);
  });
  return order;
}

std::optional<Spread> addSeparateServers(const std::vector<NodePool>& pools,
                                         const std::vector<std::size_t>& order, const Spread& workers,
                                         int servers) {
  std::vector<Used> used;
  int left = servers;
  for (const std::size_t pool : order) {
    if (left == 0) break;
    const int taken = std::min(left, pools[pool].nodes - usedOf(workers, pool));
    if (taken <= 0) continue;
    used.push_back({pool, taken});
    left -= taken;
  }
  const auto capacityOf = [&](std::size_t pool) { return pools[pool].colocatedServers.front(); };
  const auto level = levelFor(used, servers, capacityOf);
  if (!level) return std::nullopt;
  Spread spread = workers;
  int surplus = level->surplus;
  for (const Used& each : used) {
    const int full = std::min(level->height, capacityOf(each.pool));
    const int lower = full == level->height ? std::min(surplus, each.nodes) : 0;
    surplus -= lower;
    addPart(spread, each.pool, each.nodes - lower, 0, full);
    addPart(spread, each.pool, lower, 0, full - 1);
  }
  return spread;
}

}  // namespace trainyard::core
