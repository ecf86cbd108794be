#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/fragmentation.h"
#include "core/place/place.h"
#include "core/place/relaxation.h"
#include "core/place/work_budget.h"
#include "core/search/placement_cache.h"
#include "core/search/planned_shapes.h"
#include "core/search/type_preference.h"
#include "model/snapshot.h"

namespace trainyard::core {

// The shape of a job's request, and how wide it may be placed now.
struct GangShape {
  std::uint32_t key = 0;  // PlacementCache::shapeOf
  Relaxation relaxation;
};

// When other gangs may be preempted again for nodes that failed the job's attempts; empty if none did. The
// pause doubles: a job that cannot run there for an unknown reason would preempt in vain for ever.
[[nodiscard]] std::optional<base::WallTime> claimsAgainFrom(const model::Job& job);
// Whether the job preempts no other gang until then, on any node: its members could not be bound for a
// reason that other victims would not have changed, and its spec is still the same. Without this rule
// one gang would preempt its way across the cluster.
[[nodiscard]] bool isUnbindable(const model::Job& job, base::WallTime now);

// All placement requests of a cycle go through this class: whole gangs, by the cluster's
// policy and their waiting time. It remembers what did not fit (PlacementCache), and
// counts the nodes that it looks at (WorkBudget).
class GangPlacer {
 public:
  GangPlacer(const model::Snapshot& snapshot, const Ledger& ledger, const Domains& domains,
             PlacementCache& cache)  // its notes match the snapshot
      : snapshot_(snapshot), ledger_(ledger), domains_(domains), cache_(cache) {
    cache_.refusals.follow(snapshot.nodes);
  }

  // `gpus`: of the whole gang; `position`: of the job in the snapshot.
  [[nodiscard]] GangShape shapeOf(const model::Job& job, std::int64_t gpus, std::size_t position);
  // When the job may be placed wider than now, and how wide.
  struct Widening {
    base::WallTime at{};
    std::size_t widest = 0;
  };
  [[nodiscard]] std::vector<Widening> widenings(const model::Job& job, std::uint32_t shape,
                                                std::size_t position);
  [[nodiscard]] base::WallTime waitingSinceOf(const model::Job& job, std::size_t position);
  // A request for all members at the size that it starts with. Refers to the job, the policy and this object.
  [[nodiscard]] PlaceRequest request(const model::Job& job, std::size_t widest);

  // A placement in the free capacity. It avoids, if possible, the nodes that failed the job's last attempt,
  // and those on which several gangs have failed lately.
  [[nodiscard]] std::optional<Placement> place(const model::Job& job, std::uint32_t shape,
                                               std::size_t widest);
  // As above, for any request and for a hypothetical ledger (WhatIf): nothing is remembered.
  [[nodiscard]] std::optional<Placement> tryPlace(const PlaceRequest& request);
  [[nodiscard]] std::optional<Placement> tryPlace(const model::Job& job, std::size_t widest) {
    return tryPlace(request(job, widest));
  }
  // As above, for a job that preempts others: never on nodes that failed it,
  // before claimsAgainFrom(), nor on those of `avoid`.
  [[nodiscard]] std::optional<Placement> tryClaim(const model::Job& job, std::size_t widest,
                                                  const AvoidedNodes& avoid = {});
  // Whether the job could start on the empty cluster; an elastic gang at its minimum. If
  // not, the job waits for a state that never comes.
  [[nodiscard]] bool mayEverStart(const model::Job& job, std::uint32_t shape);
  // Why the job has no placement; for an elastic gang that never fits as desired, why its minimum has none.
  [[nodiscard]] PlacementFailure failure(const model::Job& job, std::size_t widest);

  // The types of GPU on which jobs are placed if these have capacity.
  [[nodiscard]] TypePreference& preferredTypes() { return preferredTypes_; }

  // Nodes that this job can never use, at any size (PlaceRequest::closed).
  using NodeNames = std::vector<model::NodeName>;
  void close(const model::ObjectKey& job, std::shared_ptr<const NodeNames> nodes) {
    closed_[job] = std::move(nodes);
  }
  // nullptr if there are none.
  [[nodiscard]] const NodeNames* closedTo(const model::Job& job) const {
    if (closed_.empty()) return nullptr;
    const auto found = closed_.find(job.key);
    return found == closed_.end() ? nullptr : found->second.get();
  }

  [[nodiscard]] const Domains& domains() const { return domains_; }
  [[nodiscard]] WorkBudget& budget() { return budget_; }
  [[nodiscard]] NodeRefusals& refusals() { return cache_.refusals; }

 private:
  using Steps = std::vector<RelaxationStep>;
  [[nodiscard]] const Steps& stepsOf(const model::Job& job, std::uint32_t shape, std::int64_t gpus);
  [[nodiscard]] const Steps& unestimatedSteps(const model::Job& job, std::uint32_t shape, std::int64_t gpus);
  [[nodiscard]] std::size_t attainable(const model::Job& job, std::uint32_t shape);
  [[nodiscard]] std::optional<Placement> placeAvoiding(const model::Job& job, std::size_t widest,
                                                       const std::vector<model::NodeName>& failed);
  [[nodiscard]] const std::vector<model::NodeName>& suspects();
  [[nodiscard]] bool usesOneType(const PlaceRequest& request);
  [[nodiscard]] std::int64_t nodes() const { return static_cast<std::int64_t>(ledger_.nodes().size()) + 1; }
  // Also charges what earlier searches have spent on long constraints.
  void spend(std::int64_t nodes) { budget_.spend(nodes + cache_.refusals.takeWork()); }

  const model::Snapshot& snapshot_;
  const Ledger& ledger_;
  const Domains& domains_;
  PlacementCache& cache_;
  WorkBudget budget_;
  TypePreference preferredTypes_;
  PlannedShapes plannedShapes_;
  std::map<model::ObjectKey, std::shared_ptr<const NodeNames>> closed_;
  // The relaxation steps of shapes, by estimated duration.
  std::map<std::pair<std::uint32_t, std::optional<std::chrono::seconds>>, Steps> steps_;
  std::vector<const Steps*> unestimated_;  // of jobs without estimate, by shape; null: not computed
  std::optional<std::vector<model::NodeName>> suspects_;  // computed on demand
  std::optional<JobMix> mix_;                             // computed on demand
};

}  // namespace trainyard::core
