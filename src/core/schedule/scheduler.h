#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/queues/priority.h"
#include "core/schedule/overdue.h"
#include "core/schedule/pending_explainer.h"
#include "core/schedule/pending_order.h"
#include "core/schedule/placement_step.h"
#include "core/schedule/queue_report.h"
#include "core/schedule/schedule.h"
#include "core/schedule/schedule_context.h"

namespace trainyard::core {

// One schedule() under way: gives every pending job its turn. core/schedule/schedule.h describes the phases.
class Scheduler {
 public:
  explicit Scheduler(const ScheduleRequest& request);
  Schedule run();

 private:
  using PendingPtr = std::shared_ptr<const model::Pending>;

  // `rests`: those of the waiting jobs that rest, or the others.
  void listPendingJobs(bool rests, std::vector<PendingJob>& pendingJobs);
  JobNotes::PendingFacts pendingFactsOf(const model::Job& job, const Priorities& priorities);
  const Amounts& demandOfShape(const model::Job& job, std::uint32_t shape);
  void keepReservedPositions(std::vector<PendingJob>& pendingJobs);
  void forgetUnreached(const std::vector<PendingJob>& pendingJobs);
  // Each of these returns whether the job was started.
  bool consider(const PendingJob& pendingJob);
  bool outOfQuota(const PendingJob& pendingJob, Excess beyond);
  bool outOfNominalQuota(const PendingJob& pendingJob, const Excess& beyond);
  bool place(const PendingJob& pendingJob);

  [[nodiscard]] bool isReached(const PendingJob& pendingJob);
  void closeTypes(const PendingJob& pendingJob);
  bool neverStarts(const PendingJob& pendingJob);
  void waitForLimit(const PendingJob& pendingJob, const Excess& beyond, const Amounts& demand);
  void blockQueue(const PendingJob& pendingJob, const model::Pending& pending);
  void resize();
  void report();

  ScheduleContext in_;
  QueueReport report_;
  Overdue overdue_;
  PendingExplainer explainer_;
  PlacementStep step_;
  std::vector<std::unique_ptr<const Amounts>> demands_;  // by shape
  // The first job that the last cycle did not reach, until this one reaches it.
  std::optional<model::ObjectKey> unreachedBefore_;
  // Queues with a first job out of quota, and why the jobs behind it wait.
  std::map<QueueTree::Index, PendingPtr> blockedQueues_;
};

}  // namespace trainyard::core
