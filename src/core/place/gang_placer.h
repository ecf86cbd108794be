#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/fragmentation.h"
#include "core/place/place.h"
#include "core/place/placement_cache.h"
#include "core/place/relaxation.h"
#include "model/snapshot.h"

namespace trainyard::core {

// What a job asks for, and how wide it may be placed by now.
struct GangShape {
  std::uint32_t key = 0;  // PlacementCache::shapeOf
  Relaxation relaxation;
};

// Asks place() for whole gangs, as the cluster's policy and the time that they have waited have it.
class GangPlacer {
 public:
  GangPlacer(const model::Snapshot& snapshot, const Ledger& ledger, const Domains& domains,
             PlacementCache& cache)  // that follows the snapshot
      : snapshot_(snapshot), ledger_(ledger), domains_(domains), cache_(cache) {}

  // `gpus`: of the whole gang; `position`: the job's in the snapshot.
  [[nodiscard]] GangShape shapeOf(const model::Job& job, std::int64_t gpus, std::size_t position);
  [[nodiscard]] base::WallTime waitingSinceOf(const model::Job& job, std::size_t position);
  // All members, at the size that it starts with. Refers to the job, the policy and this.
  [[nodiscard]] PlaceRequest request(const model::Job& job, std::size_t widest);
  // Its places in what is free now; placeAvoiding().
  [[nodiscard]] std::optional<Placement> tryPlace(const model::Job& job, std::size_t widest);

 private:
  [[nodiscard]] std::size_t attainable(const model::Job& job, std::uint32_t shape);

  const model::Snapshot& snapshot_;
  const Ledger& ledger_;
  const Domains& domains_;
  PlacementCache& cache_;
  // How shapes relax, by what their jobs are expected to take.
  std::map<std::pair<std::uint32_t, std::optional<std::chrono::seconds>>, std::vector<RelaxationStep>> steps_;
  std::optional<JobMix> mix_;  // asked for by the first that is placed
};

}  // namespace trainyard::core
