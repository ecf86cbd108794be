#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>

#include "core/cycle/cycle.h"
#include "core/gang/gang_proposals.h"
#include "core/gang/gang_protocol.h"
#include "core/gang/gang_removal.h"
#include "core/queues/queue_tree.h"

namespace trainyard::core {

// What the steps of one cycle share: its input, what it says about capacity and quota, and the plan as far as
// it is decided.
struct CycleContext {
  CycleContext(const CycleInput& of, CycleCache& previous);
  CycleContext(const CycleContext&) = delete;
  CycleContext& operator=(const CycleContext&) = delete;

  [[nodiscard]] const JobPods& podsOf(const model::Job& job) const { return ledger.pods().of(job); }
  [[nodiscard]] Author author() const { return {input.term, input.snapshot.now, &settings}; }
  [[nodiscard]] const JobFeedback& feedbackOf(const model::ObjectKey& job) const;
  [[nodiscard]] GangContext gangContext(const JobFeedback& feedback) const;
  [[nodiscard]] const LifeSign* lifeOf(const model::Job& job) const;
  // The snapshot's job; null if there is none.
  [[nodiscard]] const std::shared_ptr<const model::Job>* find(const model::ObjectKey& job) const;

  void wakeAt(std::optional<base::WallTime> time) {
    if (time && (!plan.wakeAt || *time < *plan.wakeAt)) plan.wakeAt = time;
  }
  // The job at this position has nothing to do, or nothing before `until`.
  void settle(std::size_t position, std::optional<base::WallTime> until = std::nullopt);
  // The gang has ended: its record no longer charges its queue.
  void endHoldings(const std::shared_ptr<const model::Job>& job);

  const CycleInput& input;
  Settings settings;
  CycleCache& cache;
  Ledger& ledger;
  QueueTree queues;
  std::set<const model::Job*> changing;  // placed gangs that this cycle changes, or that end
  std::set<const model::Job*> ended;     // those of them that their record no longer charges
  Plan plan;
};

// The job that is decided at the moment.
struct CurrentJob {
  const std::shared_ptr<const model::Job>& job;
  std::size_t position = 0;  // in the snapshot
  const JobFeedback& feedback;
};

}  // namespace trainyard::core
