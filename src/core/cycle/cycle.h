#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/cycle/cycle_cache.h"
#include "core/gang/action.h"
#include "core/gang/settings.h"
#include "core/lifecycle/life_signs.h"
#include "core/schedule/schedule.h"
#include "model/snapshot.h"

namespace trainyard::core {

struct CycleInput {
  model::Snapshot snapshot;
  Settings settings = {};
  std::int64_t term = 0;  // leadership term, written into proposals
  std::map<model::ObjectKey, JobFeedback> feedback = {};
  JobFeedback otherFeedback = {};  // for jobs that are not in `feedback`
  // Life signs of running jobs that their status does not show yet; most jobs have no entry.
  std::map<model::ObjectKey, LifeSign> life = {};
};

// How long a status write may wait.
enum class Urgency {
  kNow,
  kSoon,   // a further change is expected within moments: one write may record both
  kPaced,  // pods of other jobs that still have to be created go first
  kSpare,  // it only refreshes messages or counts: it waits for its turn in the write budget
};

// The writes and actions that one job needs. The status write comes first. Actions wait until it has
// succeeded, because they act on the record as written.
struct JobDecision {
  std::shared_ptr<const model::Job> job;
  std::optional<model::JobStatus> status = std::nullopt;
  Urgency urgency = Urgency::kNow;
  std::vector<Action> actions = {};
  std::vector<JobEvent> events = {};
  // The pod that the action creates stands in for the record in `status`, which is written once it is bound.
  bool podIsRecord = false;
  friend bool operator==(const JobDecision&, const JobDecision&) = default;
};

struct Plan {
  std::vector<JobDecision> decisions;          // jobs with nothing to do are left out
  std::vector<QueueStatusUpdate> queues = {};  // Queue objects with a changed status
  std::vector<DeletePod> orphans;              // pods to delete because their TrainingJob is gone
  std::optional<base::WallTime> wakeAt;        // run the next cycle by then, even if nothing changes
  std::size_t waiting = 0;                     // jobs without a placement
  bool capacityWanted = false;                 // some of them wait for capacity that others hold
  std::optional<SizeTerms> sizes;  // utilization, fairness loss, adjustments; absent without elastic gangs
  std::int64_t fairnessLossPermille = 0;  // QueueReport::fairnessLossPermille()
  friend bool operator==(const Plan&, const Plan&) = default;
};

// One scheduling cycle: a pure function of what the API shows. Phases, as numbered in docs/architecture.md:
//  1 snapshot   free capacity of every node (Ledger), pods by job
//  2 finish     jobs that run, ended, are being deleted, suspended or refused; proposals take their next step
//  3 shares, 4 order, 5 place, 6 preempt, 7 backfill, 9 explain: core/schedule/schedule.h
//  8 resize     capacity that no job waits for (core/elastic/resizes.h, within core/schedule/schedule.h),
//  then the
//               sizes that users ask for (core/elastic/user_scale.h)
// `cache` is what the previous cycle left, or empty. It saves work and changes no decision; see CycleCache.
[[nodiscard]] Plan cycle(const CycleInput& input, CycleCache& cache);
[[nodiscard]] Plan cycle(const CycleInput& input);

}  // namespace trainyard::core
