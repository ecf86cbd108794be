#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/cycle/cycle.h"
#include "core/gang/framework_env.h"
#include "kube/api_client.h"
#include "operator/template_checks.h"

namespace trainyard::operator_ {

// What the executor knows of a job.
struct JobState {
  bool busy = false;
  bool statusDeferred = false;  // first news, which can wait, is held back
  model::Uid uid;
  int failures = 0;
  base::Instant notBefore = base::Instant::min();
  // The gang record that a status write carries right now.
  std::optional<model::GangRecord> writing;
  // Facts about one epoch, which end with it.
  std::int64_t auxiliariesEpoch = 0;
  std::int64_t refusedEpoch = 0;
  std::optional<core::JobFeedback::CreationRefused> creationRefused;
  std::int64_t notifiedEpoch = 0;  // its members have its size, or could not get it before its deadline
  std::int64_t startedEpoch = 0;   // its owner has been started
  std::int64_t releasedEpoch = 0;
  base::WallTime released{};     // when its last member was released
  std::int64_t failedEpoch = 0;  // the epoch with a classified failure
  std::optional<core::Failure> failure;

  void write(model::GangRecord gang) {
    writing = std::move(gang);
    seenAs_ = {};
  }
  // Returns the job as it will be once the record is written. Returns the same object for the same job, so
  // that it counts as a change only once.
  [[nodiscard]] std::shared_ptr<const model::Job> asWritten(const std::shared_ptr<const model::Job>& job) {
    if (seenAs_.from != job) {
      auto copy = std::make_shared<model::Job>(*job);
      copy->status.gang = *writing;
      copy->recordUnwritten = false;
      seenAs_ = {job, std::move(copy)};
    }
    return seenAs_.to;
  }

  // True if the state can be dropped. Most jobs have none, which keeps loops over all states short.
  [[nodiscard]] bool isDefault() const {
    return !busy && !statusDeferred && failures == 0 && !writing && auxiliariesEpoch == 0 &&
           refusedEpoch == 0 && releasedEpoch == 0 && failedEpoch == 0 && notifiedEpoch == 0 &&
           startedEpoch == 0;
  }

 private:
  struct {
    std::shared_ptr<const model::Job> from, to;
  } seenAs_;
};

// Conflicts with faster writers. After this many, the next cycle decides again.
inline constexpr int kMaxConflicts = 20;

// The answers to the dry-runs of one CheckTemplates.
struct TemplateAnswers {
  std::size_t open = 0;
  bool unclear = false;  // an answer did not concern its template: all are asked again
  std::string unusable;  // the operator's own first error: only an edit can fix it
  std::string refused;   // the API server's first refusal: may be transient
  TemplateChecks::AdmittedShapes shapes = {};
};

// One decision under way.
struct Step {
  core::JobDecision decision;
  std::string path;                                    // of the job
  std::shared_ptr<const model::Job> asRead = nullptr;  // the job in the API server; base of a status write
  std::size_t statusHash = 0;                          // hash of the status that is written
  TemplateAnswers templates = {};
  std::int64_t ensuredEpoch = 0;   // of the Service and ConfigMap that this step makes
  std::int64_t notifiesEpoch = 0;  // of the size that it sends to members
  std::size_t openParts = 0;
  bool good = true;
  bool shrunk = false;  // labels and annotations were removed for its write
  int conflicts = 0;    // of its writes to the job

  // Environments of the members of `decision.job`. Call only once `decision.job` no longer changes.
  [[nodiscard]] const core::MemberEnvironments& environments() {
    if (!environments_) environments_.emplace(*decision.job);
    return *environments_;
  }

 private:
  std::optional<core::MemberEnvironments> environments_;
};

using StepPtr = std::shared_ptr<Step>;
using Answer = base::Result<kube::ApiResponse>;

}  // namespace trainyard::operator_
