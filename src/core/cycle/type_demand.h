#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/place/gang_placer.h"
#include "core/place/placement_cache.h"
#include "core/queues/queue_tree.h"
#include "model/snapshot.h"

namespace trainyard::core {

// What is known of the types of GPU that a gang will hold before it has places: of the types that quotas
// name. Assumes that its members may go to any node that their templates match, as long as that stays.
class TypeDemand {
 public:
  TypeDemand(const model::Snapshot& snapshot, const Ledger& ledger, const QueueTree& tree, GangPlacer& placer,
             PlacementCache& cache)
      : snapshot_(snapshot), ledger_(ledger), tree_(tree), placer_(placer), cache_(cache) {}

  // Types of which a gang of this queue and shape, which has to have room for `least`, can never have as many
  // GPUs as it would take there: their nodes are closed to it. None where it could start nowhere else: then
  // it is the limit that it is told of. nullptr for no nodes.
  [[nodiscard]] std::shared_ptr<const GangPlacer::NodeNames> closedTo(QueueTree::Index queue,
                                                                      const model::Job& least,
                                                                      std::uint32_t shape);
  // What the job asks for, which is of this shape at some size, with the types of those members that may run
  // on no other.
  [[nodiscard]] QueueTree::Amounts demandOf(const model::Job& job, std::uint32_t shape);
  // How many of its GPUs may be of the type.
  [[nodiscard]] std::int64_t mostOf(const model::Job& job, std::uint32_t shape, std::size_t type);

 private:
  static constexpr std::size_t kNoType = 0;  // of nodes whose type no quota names; it is no type's dimension
  // By role: the types of nodes that its members may use.
  using Roles = std::vector<std::set<std::size_t>>;
  [[nodiscard]] const Roles& typesOf(const model::Job& job, std::uint32_t shape);
  void readNodes();
  [[nodiscard]] std::int64_t leastOf(const model::Job& job);
  [[nodiscard]] std::shared_ptr<const GangPlacer::NodeNames> findClosed(QueueTree::Index queue,
                                                                        const model::Job& least);

  const model::Snapshot& snapshot_;
  const Ledger& ledger_;
  const QueueTree& tree_;
  GangPlacer& placer_;
  PlacementCache& cache_;
  std::vector<std::size_t> typeOf_;  // by node of the ledger; empty: nobody asked yet
  bool allLabelled_ = false;
  std::map<std::uint32_t, Roles> roles_;  // by shape
  std::map<std::pair<QueueTree::Index, std::uint32_t>, std::shared_ptr<const GangPlacer::NodeNames>> closed_;
  std::map<const GangPlacer::NodeNames*, std::set<std::size_t>> closedTypes_;  // by those
};

}  // namespace trainyard::core
