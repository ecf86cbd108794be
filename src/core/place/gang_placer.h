#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/fragmentation.h"
#include "core/place/place.h"
#include "core/place/placement_cache.h"
#include "core/place/relaxation.h"
#include "core/place/work_budget.h"
#include "model/snapshot.h"

namespace trainyard::core {

// What a job asks for, and how wide it may be placed by now.
struct GangShape {
  std::uint32_t key = 0;  // PlacementCache::shapeOf
  Relaxation relaxation;
};

// When others may be stopped again for nodes that failed the job's attempts; nothing where none did. Later
// and later: whoever cannot run there for a reason that nobody sees would stop them for nothing for ever.
[[nodiscard]] std::optional<base::WallTime> claimsAgainFrom(const model::Job& job);
// Whether the job preempts no others until then, wherever: its members could not be bound for a reason that
// other victims would not have changed, and its spec is still the same. One gang would preempt its way across
// the cluster.
[[nodiscard]] bool isUnbindable(const model::Job& job, base::WallTime now);

// All that a cycle asks of placement goes through here: whole gangs, as the cluster's policy and the time
// that they have waited have it. It remembers what was not to be had (PlacementCache), and counts what it
// looks at (WorkBudget).
class GangPlacer {
 public:
  GangPlacer(const model::Snapshot& snapshot, const Ledger& ledger, const Domains& domains,
             PlacementCache& cache)  // whose notes follow the snapshot
      : snapshot_(snapshot), ledger_(ledger), domains_(domains), cache_(cache) {
    cache_.refusals.follow(snapshot.nodes);
  }

  // `gpus`: of the whole gang; `position`: the job's in the snapshot.
  [[nodiscard]] GangShape shapeOf(const model::Job& job, std::int64_t gpus, std::size_t position);
  // When it may be placed wider than now, and how wide then.
  struct Widening {
    base::WallTime at{};
    std::size_t widest = 0;
  };
  [[nodiscard]] std::vector<Widening> widenings(const model::Job& job, std::uint32_t shape,
                                                std::size_t position);
  [[nodiscard]] base::WallTime waitingSinceOf(const model::Job& job, std::size_t position);
  // All members, at the size that it starts with. Refers to the job, the policy and this.
  [[nodiscard]] PlaceRequest request(const model::Job& job, std::size_t widest);

  // Its places in what is free now, off the nodes that failed its last attempt, or several gangs lately,
  // where that is possible.
  [[nodiscard]] std::optional<Placement> place(const model::Job& job, std::uint32_t shape,
                                               std::size_t widest);
  // The same, of any request, and of a ledger of which something is asked (WhatIf): nothing is remembered.
  [[nodiscard]] std::optional<Placement> tryPlace(const PlaceRequest& request);
  [[nodiscard]] std::optional<Placement> tryPlace(const model::Job& job, std::size_t widest) {
    return tryPlace(request(job, widest));
  }
  // The same for a job for which others have to go: never onto nodes that failed it, before
  // claimsAgainFrom(); nor onto those of `avoid`.
  [[nodiscard]] std::optional<Placement> tryClaim(const model::Job& job, std::size_t widest,
                                                  const std::vector<model::NodeName>& avoid = {});
  // Whether it could start on the empty cluster, an elastic gang with its least; one that could not waits for
  // nothing that will come.
  [[nodiscard]] bool mayEverStart(const model::Job& job, std::uint32_t shape);
  // Why there are none; of an elastic gang whose wish can never have any, why there are none for its least.
  [[nodiscard]] PlacementFailure failure(const model::Job& job, std::size_t widest);

  // On which type of GPU these jobs are placed where it has room (core/place/type_choice.h), whatever their
  // plans say.
  void prefer(std::map<model::ObjectKey, std::string> types) { preferred_ = std::move(types); }

  // Nodes that are none for this job, at whatever size (PlaceRequest::closed).
  using NodeNames = std::vector<model::NodeName>;
  void close(const model::ObjectKey& job, std::shared_ptr<const NodeNames> nodes) {
    closed_[job] = std::move(nodes);
  }
  // nullptr: there are none.
  [[nodiscard]] const NodeNames* closedTo(const model::Job& job) const {
    if (closed_.empty()) return nullptr;
    const auto found = closed_.find(job.key);
    return found == closed_.end() ? nullptr : found->second.get();
  }

  [[nodiscard]] const Domains& domains() const { return domains_; }
  [[nodiscard]] WorkBudget& budget() { return budget_; }
  [[nodiscard]] NodeRefusals& refusals() { return cache_.refusals; }

 private:
  [[nodiscard]] std::size_t attainable(const model::Job& job, std::uint32_t shape);
  [[nodiscard]] std::optional<Placement> placeAvoiding(const model::Job& job, std::size_t widest,
                                                       const std::vector<model::NodeName>& failed);
  [[nodiscard]] const std::vector<model::NodeName>& suspects();
  [[nodiscard]] std::int64_t nodes() const { return static_cast<std::int64_t>(ledger_.nodes().size()) + 1; }
  // With what the searches before have spent on long constraints.
  void spend(std::int64_t nodes) { budget_.spend(nodes + cache_.refusals.takeWork()); }

  const model::Snapshot& snapshot_;
  const Ledger& ledger_;
  const Domains& domains_;
  PlacementCache& cache_;
  WorkBudget budget_;
  using Steps = std::vector<RelaxationStep>;
  [[nodiscard]] const Steps& stepsOf(const model::Job& job, std::uint32_t shape, std::int64_t gpus);
  [[nodiscard]] const Steps& unestimatedSteps(const model::Job& job, std::uint32_t shape, std::int64_t gpus);

  [[nodiscard]] const std::vector<model::ShapeCost>* plannedCosts(const model::Job& job);
  template <typename Find>
  [[nodiscard]] std::optional<Placement> placeOnPreferredType(const PlaceRequest& request, const Find& find);
  [[nodiscard]] const std::string* preferredType(const model::Job& job) const;

  std::map<model::ObjectKey, std::string> preferred_;
  std::map<model::ObjectKey, std::shared_ptr<const NodeNames>> closed_;

  std::map<std::pair<int, int>, std::vector<model::ShapeCost>> planned_;  // by nodes and GPUs on each
  // How shapes relax, by what their jobs are expected to take.
  std::map<std::pair<std::uint32_t, std::optional<std::chrono::seconds>>, Steps> steps_;
  std::vector<const Steps*> unestimated_;  // of those, by shape; null: nobody asked yet
  [[nodiscard]] bool keepsToOneType(const PlaceRequest& request);
  std::optional<std::vector<model::NodeName>> suspects_;  // likewise
  std::optional<JobMix> mix_;                             // asked for by the first that is placed
};

}  // namespace trainyard::core
