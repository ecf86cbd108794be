#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "base/executor.h"
#include "base/log.h"
#include "core/cycle/cycle.h"
#include "kube/api_client.h"
#include "kube/cluster_cache.h"
#include "operator/body_window.h"
#include "operator/deferred_writes.h"
#include "operator/evidence_collector.h"
#include "operator/job_events.h"
#include "operator/operator_metrics.h"
#include "operator/single_records.h"
#include "operator/template_checks.h"

namespace trainyard::operator_ {

// Carries out plans. One decision per job is under way at a time; until it has ended, the job is `busy`
// and the cycle leaves it alone. Answers to writes go into the cache at once, so that the next cycle sees
// them.
//
// Writes the record first: actions start only after the decision's status write succeeded. Every status write
// is guarded by resourceVersion. A write with an unknown outcome is followed by a read.
class PlanExecutor {
 public:
  struct Dependencies {
    kube::ApiClient& api;
    base::Executor& executor;
    kube::ClusterCache& cache;
    JobEvents& events;
    OperatorMetrics& metrics;
    base::Logger log;
    std::string schedulerName = {};  // of the pods; empty: the cluster's default scheduler
    core::Settings settings = {};
    std::string launcherImage = {};  // of trainyard-launch; empty: jobs that need it are refused
    Offload offload = {};            // for the logs of failed gangs
  };

  // Calls `settled` whenever a job stops being busy: the next cycle may have something for it.
  PlanExecutor(Dependencies dependencies, std::function<void()> settled);
  ~PlanExecutor();
  PlanExecutor(const PlanExecutor&) = delete;
  PlanExecutor& operator=(const PlanExecutor&) = delete;

  void execute(const core::Plan& plan);
  // Adds rules to the built-in ones that classify failures. Unusable rules leave the last good ones.
  [[nodiscard]] base::Result<void> setFailureRules(const std::vector<model::FailureRule>& rules) {
    return evidence_.setRules(rules);
  }

  // Sets the node check that jobs can request. Without an image there is none.
  void setPreflight(const model::Preflight& preflight) { preflight_ = preflight; }

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
  [[nodiscard]] std::size_t busyJobs() const;

 private:
  struct JobState;
  struct Step;  // one decision under way
  using StepPtr = std::shared_ptr<Step>;
  using Answer = base::Result<kube::ApiResponse>;

  // plan_executor.cpp: steps of a decision
  void start(const core::JobDecision& decision);
  [[nodiscard]] bool mayWriteNow(const core::JobDecision& decision, base::Instant now);
  void noteHeld(const model::Job& job);
  void writeStatus(const StepPtr& step);
  void recordEvents(const Step& step);
  void statusWritten(const StepPtr& step, const Answer& answer);
  [[nodiscard]] bool tookEffect(const Step& step);
  enum class Reread { kAfterConflict, kOutcomeUnknown };
  void reread(const StepPtr& step, Reread why);
  void shrink(const StepPtr& step);
  [[nodiscard]] bool writeAgain(const StepPtr& step);
  void runActions(const StepPtr& step);
  void partDone(const StepPtr& step, bool good);
  void finish(const StepPtr& step);
  void forgetGoneJobs();
  [[nodiscard]] static core::JobFeedback feedbackOn(const model::Job& job, const JobState& state,
                                                    base::Instant now);
  // Wraps a callback so that it does nothing once this object is destroyed.
  [[nodiscard]] kube::ApiCallback guarded(std::function<void(const Answer&)> callback) const;

  // plan_actions.cpp: one action each
  void run(const StepPtr& step, const core::CheckTemplates& action);
  void run(const StepPtr& step, const core::AddFinalizer& action);
  void run(const StepPtr& step, const core::RemoveFinalizer& action);
  void run(const StepPtr& step, const core::EnsureAuxiliaries& action);
  void run(const StepPtr& step, const core::CreateMember& action);
  void createMember(const StepPtr& step, const core::CreateMember& action, std::size_t bytes);
  void run(const StepPtr& step, const core::ReleaseMember& action);
  void run(const StepPtr& step, const core::NotifyMember& action);
  void notifyMember(const StepPtr& step, const core::NotifyMember& action, int conflicts);
  void retryNotifyMember(const StepPtr& step, const core::NotifyMember& action, int conflicts);
  void notifyFailed(const StepPtr& step, const core::NotifyMember& action, const base::Error& error);
  void run(const StepPtr& step, const core::DeletePod& action);
  void run(const StepPtr& step, const core::CollectEvidence& action);
  void run(const StepPtr& step, const core::DeleteJob& action);
  void checkTemplate(const StepPtr& step, const model::Role& role, std::size_t bytes);
  void templateAnswered(const StepPtr& step, const std::string& role, const Answer& answer);
  void concludeTemplates(const StepPtr& step);
  // plan_claims.cpp: the check of ResourceClaims
  void checkClaims(const StepPtr& step);
  void patchFinalizers(const StepPtr& step, bool present);
  void rereadFinalizers(const StepPtr& step, bool present, const std::string& patchedFrom);
  void ensureOwned(const StepPtr& step, const kube::ResourceType& type, const std::string& name,
                   std::string body);
  void ensureOurs(const StepPtr& step, const kube::ResourceType& type, std::string body);
  void ensureSshKeys(const StepPtr& step);
  void ensureDisruptionBudget(const StepPtr& step);
  void ensureMemberServices(const StepPtr& step);
  void ensureLaunchToken(const StepPtr& step);
  void warnOfOwnVariables(const StepPtr& step);
  [[nodiscard]] const model::Preflight* preflightOf(const model::Job& job) const;
  void checkOwner(const StepPtr& step, const kube::ResourceType& type, const std::string& name);
  void readMember(const StepPtr& step, const std::string& name);
  void reportFormerPod(const StepPtr& step, const std::string& pod);
  void singleNameTaken(const StepPtr& step, const model::Pod& pod);
  void refuseCreation(const StepPtr& step, const base::Error& error);
  void refuseCreation(const StepPtr& step, std::string reason, std::string message);
  void noteRelease(const model::Job& job);
  void deletePod(const core::DeletePod& action, std::function<void(bool good)> done);
  void strip(const core::DeletePod& action, const std::pair<model::Uid, bool>& sent,
             const std::function<void(bool good)>& done);
  void checkGone(const core::DeletePod& action, const std::pair<model::Uid, bool>& sent,
                 const std::function<void(bool good)>& done);

  Dependencies deps_;
  std::function<void()> settled_;
  std::map<model::ObjectKey, JobState> jobs_;
  TemplateChecks templateChecks_;
  DeferredWrites deferredWrites_;
  SingleRecords singles_;
  BodyWindow bodies_;
  EvidenceCollector evidence_;
  model::Preflight preflight_;
  std::unordered_map<model::Uid, std::size_t>
      lastStatusHash_;  // hash of the last status write that succeeded
  // Deletes that the watch may not show yet, and whether they were forced.
  std::map<std::pair<model::Uid, bool>, base::Instant> deletesSent_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_
