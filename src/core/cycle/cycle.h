#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/cycle/cycle_cache.h"
#include "core/cycle/schedule.h"
#include "core/gang/action.h"
#include "core/gang/settings.h"
#include "core/lifecycle/life_signs.h"
#include "model/snapshot.h"

namespace trainyard::core {

struct CycleInput {
  model::Snapshot snapshot;
  Settings settings = {};
  std::int64_t term = 0;  // leadership term, written into proposals
  std::map<model::ObjectKey, JobFeedback> feedback = {};
  JobFeedback otherFeedback = {};  // of jobs that are not in `feedback`
  // Of running jobs whose status does not tell yet what their logs do; of most there is none.
  std::map<model::ObjectKey, LifeSign> life = {};
};

// How long a status write may wait.
enum class Urgency {
  kNow,
  kSoon,   // better news is expected within moments: one write may tell both
  kPaced,  // nobody waits for it as long as others' pods still have to be made: those go first
  kSpare,  // it only refreshes words or counts: it may wait for its turn in the write budget
};

// What one job needs done. The status write comes first; actions wait until it succeeded, because they act on
// the record as written.
struct JobDecision {
  std::shared_ptr<const model::Job> job;
  std::optional<model::JobStatus> status = std::nullopt;
  Urgency urgency = Urgency::kNow;
  std::vector<Action> actions = {};
  std::vector<JobEvent> events = {};
  // The pod that its action makes stands for the record in `status`: nothing is written before it is bound.
  bool podIsRecord = false;
  friend bool operator==(const JobDecision&, const JobDecision&) = default;
};

struct Plan {
  std::vector<JobDecision> decisions;    // jobs with nothing to do are left out
  std::vector<QueueNews> queues = {};    // Queue objects whose status is to be written
  std::vector<DeletePod> orphans;        // pods to sweep whose TrainingJob is gone
  std::optional<base::WallTime> wakeAt;  // look again then, though nothing changes
  std::size_t waiting = 0;               // jobs that have no places yet
  bool roomWanted = false;               // some of them wait for what others hold
  std::optional<SizeTerms> sizes;  // utilization, fairness loss, adjustments; absent without elastic gangs
  std::int64_t fairnessLossPermille = 0;  // QueueReport::fairnessLossPermille()
  friend bool operator==(const Plan&, const Plan&) = default;
};

// One scheduling cycle: a pure function of what the API shows. Phases, as numbered in docs/architecture.md:
//  1 snapshot   free room of every node (Ledger), pods by job
//  2 finish     jobs that run, ended, are being deleted, suspended or refused; proposals take their next step
//  3 shares, 4 order, 5 place, 6 preempt, 7 backfill, 9 explain: core/cycle/schedule.h
//  8 resize     what the user asks for (core/cycle/user_scale.h), then what nobody waits for
//  (core/cycle/resizes.h, within core/cycle/schedule.h)
// `cache` is what the cycle before left, or empty: it saves work and changes nothing.
[[nodiscard]] Plan cycle(const CycleInput& input, CycleCache& cache);
[[nodiscard]] Plan cycle(const CycleInput& input);

}  // namespace trainyard::core
