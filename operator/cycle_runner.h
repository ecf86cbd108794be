#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/executor.h"
#include "base/log.h"
#include "core/cycle/cycle.h"
#include "kube/api_client.h"
#include "operator/cluster_view.h"
#include "operator/cycle_timer.h"
#include "operator/execute/plan_executor.h"
#include "operator/leader_tasks.h"
#include "operator/operator_metrics.h"
#include "operator/operator_options.h"
#include "operator/queue_status_writer.h"
#include "operator/recorded_events.h"

namespace trainyard::operator_ {

// Runs cycles on the leader: takes a snapshot, plans, and carries out the plan.
class CycleRunner {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    ClusterView& cluster;
    LeaderTasks& tasks;
    RecordedEvents& events;
    OperatorMetrics& metrics;
    base::Logger log;
    Offload offload;
    std::function<bool()> leading;
    std::function<void()> ran;  // a cycle ended
  };

  CycleRunner(const OperatorOptions& options, Dependencies dependencies);
  CycleRunner(const CycleRunner&) = delete;
  CycleRunner& operator=(const CycleRunner&) = delete;

  // Names the term of leadership in which the next cycles run.
  void setTerm(std::int64_t term) { term_ = term; }
  void request() { timer_.request(); }
  // Call when the policy in the options has changed.
  void takePolicy();
  // Runs no cycle from now on. Calls `idle` whenever a decision under way has ended and none is left, and at
  // once if there is none.
  void stop(std::function<void()> idle);

 private:
  void run();
  void settled();
  [[nodiscard]] core::CycleInput takeInput();
  [[nodiscard]] std::optional<base::Instant> nextWake(const core::Plan& plan) const;

  const OperatorOptions& options_;
  Dependencies deps_;
  CycleTimer timer_;
  PlanExecutor executor_;
  QueueStatusWriter queueStatus_;
  core::CycleCache cache_;
  std::int64_t term_ = 0;
  std::function<void()> idle_;
};

}  // namespace trainyard::operator_
