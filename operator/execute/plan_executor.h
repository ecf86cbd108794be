#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "operator/deferred_writes.h"
#include "operator/execute/action_runner.h"
#include "operator/execute/decisions_under_way.h"
#include "operator/execute/status_writer.h"
#include "operator/single_records.h"

namespace trainyard::operator_ {

// Carries out plans. One decision per job is under way at a time; until it has ended, the job is `busy`
// and the cycle leaves it alone. Answers to writes go into the cache at once, so that the next cycle sees
// them.
//
// Writes the record first (StatusWriter): actions start only after the decision's status write succeeded.
class PlanExecutor {
 public:
  using Dependencies = ExecutorDependencies;

  // Calls `settled` whenever a job stops being busy: the next cycle may have something for it.
  PlanExecutor(Dependencies dependencies, std::function<void()> settled);
  PlanExecutor(const PlanExecutor&) = delete;
  PlanExecutor& operator=(const PlanExecutor&) = delete;

  void execute(const core::Plan& plan);
  // Adds rules to the built-in ones that classify failures. Unusable rules leave the last good ones.
  [[nodiscard]] base::Result<void> setFailureRules(const std::vector<model::FailureRule>& rules) {
    return actions_.evidence().setRules(rules);
  }
  // Sets the node check that jobs can request. Without an image there is none.
  void setPreflight(const model::Preflight& preflight) { actions_.preflight().set(preflight); }

  // For the next cycle: which jobs are busy, and what was learnt beyond the watches.
  [[nodiscard]] std::map<model::ObjectKey, core::JobFeedback> feedback(const model::Snapshot& snapshot) const;
  // For the jobs that feedback() leaves out, which are most: none is busy, and their templates are valid.
  [[nodiscard]] static core::JobFeedback otherFeedback() { return {.templateError = ""}; }
  // Adds to the snapshot the records that are being written, since their capacity is not free whatever the
  // outcome of the write. Adds the shapes that admission gives to pods.
  void overlay(model::Snapshot& snapshot);
  // Returns when a postponed write or the end of a back-off needs the next cycle.
  [[nodiscard]] std::optional<base::Instant> nextWake() const;
  // Jobs with a decision under way. An orderly shutdown waits for them.
  [[nodiscard]] std::size_t busyJobs() const { return steps_.busyJobs(); }

 private:
  void start(const core::JobDecision& decision);
  [[nodiscard]] bool mayWriteNow(const core::JobDecision& decision, base::Instant now);
  void runActions(const StepPtr& step);

  Dependencies deps_;
  DecisionsUnderWay steps_;
  TemplateChecks templateChecks_;
  DeferredWrites deferredWrites_;
  SingleRecords singles_;
  StatusWriter status_;
  ActionRunner actions_;
};

}  // namespace trainyard::operator_
