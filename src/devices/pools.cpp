#include "devices/pools.h"

#include <string>
#include <utility>

namespace trainyard::devices {

SlicesByNode usableSlices(const model::SharedList<model::ResourceSlice>& slices) {
  std::map<std::pair<std::string, std::string>, std::vector<std::shared_ptr<const model::ResourceSlice>>>
      pools;
  for (const auto& slice : slices) {
    auto& pool = pools[{slice->driver, slice->pool}];
    if (!pool.empty() && pool.front()->generation > slice->generation) continue;
    if (!pool.empty() && pool.front()->generation < slice->generation) pool.clear();
    pool.push_back(slice);
  }
  SlicesByNode usable;
  for (auto& [name, pool] : pools) {
    if (pool.size() != static_cast<std::size_t>(pool.front()->slicesOfPool)) continue;
    for (auto& slice : pool) {
      if (!slice->node.empty()) usable[slice->node].push_back(std::move(slice));
    }
  }
  return usable;
}

}  // namespace trainyard::devices
