#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/queues/queue_tree.h"
#include "core/search/gang_placer.h"
#include "core/search/placement_cache.h"
#include "model/snapshot.h"

namespace trainyard::core {

// Derives which GPU types a gang will hold before it has a placement, for the types that quotas name. Assumes
// that its members may go to any node that their templates match, as long as that stays so.
class TypeDemand {
 public:
  TypeDemand(const model::Snapshot& snapshot, const Ledger& ledger, const QueueTree& tree, GangPlacer& placer,
             PlacementCache& cache)
      : snapshot_(snapshot), ledger_(ledger), tree_(tree), placer_(placer), cache_(cache) {}

  // Returns the nodes that are closed to gangs of this queue and shape. Their GPU types are those of which
  // the gang can never have enough for `minimum`. Returns nullptr if there are none, or if the
  // gang could start nowhere else: its reason is then the limit.
  [[nodiscard]] std::shared_ptr<const GangPlacer::NodeNames> closedTo(QueueTree::Index queue,
                                                                      const model::Job& minimum,
                                                                      std::uint32_t shape);
  // Returns the demand of the job, which has this shape at some size. It includes the GPU types of those
  // members that can run on only one type.
  [[nodiscard]] Amounts demandOf(const model::Job& job, std::uint32_t shape);
  // Returns how many of the job's GPUs may be of the type.
  [[nodiscard]] std::int64_t mostOf(const model::Job& job, std::uint32_t shape, std::size_t type);

 private:
  static constexpr std::size_t kNoType = 0;  // of nodes with a type that no quota names; no type's dimension
  // By role: the GPU types of the nodes that its members may use.
  using Roles = std::vector<std::set<std::size_t>>;
  [[nodiscard]] const Roles& typesOf(const model::Job& job, std::uint32_t shape);
  void readNodes();
  [[nodiscard]] std::int64_t minimumOf(const model::Job& job);
  [[nodiscard]] std::shared_ptr<const GangPlacer::NodeNames> findClosed(QueueTree::Index queue,
                                                                        const model::Job& minimum);

  const model::Snapshot& snapshot_;
  const Ledger& ledger_;
  const QueueTree& tree_;
  GangPlacer& placer_;
  PlacementCache& cache_;
  std::vector<std::size_t> typeOf_;  // by node of the ledger; empty until first needed
  bool allLabelled_ = false;
  std::map<std::uint32_t, Roles> roles_;  // by shape
  std::map<std::pair<QueueTree::Index, std::uint32_t>, std::shared_ptr<const GangPlacer::NodeNames>> closed_;
  std::map<const GangPlacer::NodeNames*, std::set<std::size_t>> closedTypes_;  // by list in closed_
};

}  // namespace trainyard::core
