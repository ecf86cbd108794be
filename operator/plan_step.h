#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/gang/framework_env.h"
#include "operator/plan_executor.h"

// Private to plan_executor.cpp and plan_actions.cpp.
namespace trainyard::operator_ {

struct PlanExecutor::JobState {
  bool busy = false;
  bool newsHeld = false;  // of the first ones, which can wait
  model::Uid uid;
  int failures = 0;
  base::Instant notBefore = base::Instant::min();
  // The gang record that a status write carries right now.
  std::optional<model::GangRecord> writing;
  // Facts about one epoch, so that they end with it.
  std::int64_t auxiliariesEpoch = 0;
  std::int64_t refusedEpoch = 0;
  std::optional<core::JobFeedback::CreationRefused> creationRefused;
  std::int64_t toldEpoch = 0;  // its members were told of it, or could not be before its deadline
  std::int64_t releasedEpoch = 0;
  base::WallTime released{};     // the last member of it
  std::int64_t failedEpoch = 0;  // of which it was asked why it failed
  std::optional<core::Failure> failure;

  void write(model::GangRecord gang) {
    writing = std::move(gang);
    seenAs_ = {};
  }
  // The job as it will be once the record is written; the same object for the same job, so that it counts as
  // a change once only.
  [[nodiscard]] std::shared_ptr<const model::Job> asWritten(const std::shared_ptr<const model::Job>& job) {
    if (seenAs_.from != job) {
      auto copy = std::make_shared<model::Job>(*job);
      copy->status.gang = *writing;
      copy->recordUnwritten = false;
      seenAs_ = {job, std::move(copy)};
    }
    return seenAs_.to;
  }

  // As good as no state: most jobs have none, so that what goes over all states goes over few.
  [[nodiscard]] bool saysNothing() const {
    return !busy && !newsHeld && failures == 0 && !writing && auxiliariesEpoch == 0 && refusedEpoch == 0 &&
           releasedEpoch == 0 && failedEpoch == 0 && toldEpoch == 0;
  }

 private:
  struct {
    std::shared_ptr<const model::Job> from, to;
  } seenAs_;
};

// With writers who are faster than we are. After so many the next cycle decides anew.
inline constexpr int kMostConflicts = 20;

// The answers to the dry-runs of one CheckTemplates.
struct TemplateAnswers {
  std::size_t open = 0;
  bool unclear = false;  // one of them said nothing about its template: all are asked again
  std::string unusable;  // the operator's own first complaint: only an edit can mend it
  std::string refused;   // the API server's first refusal: it may pass
  TemplateChecks::AdmittedShapes shapes = {};
};

struct PlanExecutor::Step {
  core::JobDecision decision;
  std::string path;                                    // of the job
  std::shared_ptr<const model::Job> asRead = nullptr;  // the job as the API server has it, of a status write
  std::size_t words = 0;                               // hash of the status that is written
  TemplateAnswers templates = {};
  std::int64_t ensuredEpoch = 0;  // whose Service and ConfigMap this step makes
  std::int64_t tellsEpoch = 0;    // of whose size it tells members
  std::size_t openParts = 0;
  bool good = true;
  bool shrunk = false;  // room was made for its write
  int conflicts = 0;    // of its writes to the job

  // What members of `decision.job` are told; asked for only once that is the job as it stays.
  [[nodiscard]] const core::MemberEnvironments& environments() {
    if (!environments_) environments_.emplace(*decision.job);
    return *environments_;
  }

 private:
  std::optional<core::MemberEnvironments> environments_;
};

}  // namespace trainyard::operator_
