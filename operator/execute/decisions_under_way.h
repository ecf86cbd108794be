#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "operator/execute/executor_dependencies.h"
#include "operator/execute/step.h"

namespace trainyard::operator_ {

// The decisions that are being carried out, at most one for each job, and what was learnt of their jobs.
class DecisionsUnderWay {
 public:
  // Calls `settled` whenever a job stops being busy.
  DecisionsUnderWay(const ExecutorDependencies& dependencies, std::function<void()> settled)
      : deps_(dependencies), settled_(std::move(settled)) {}
  ~DecisionsUnderWay() { *alive_ = false; }
  DecisionsUnderWay(const DecisionsUnderWay&) = delete;
  DecisionsUnderWay& operator=(const DecisionsUnderWay&) = delete;

  [[nodiscard]] bool isBusy(const model::ObjectKey& job) const;
  // State of an earlier job with this name does not apply to this job.
  JobState& open(const model::Job& job);
  JobState& of(const model::ObjectKey& job) { return jobs_[job]; }

  // A step ends with the last of its parts; it is good if all are.
  void partDone(const StepPtr& step, bool good);
  void finish(const StepPtr& step);
  // The API server refuses an object that the gang needs: its attempt cannot succeed.
  void refuseCreation(const StepPtr& step, const base::Error& error);
  void refuseCreation(const StepPtr& step, std::string reason, std::string message);

  // Wrap callbacks so that they do nothing once this object is destroyed.
  template <typename Callback>
  [[nodiscard]] auto guarded(Callback callback) const {
    return [alive = alive_, callback = std::move(callback)](auto&&... arguments) {
      if (*alive) callback(std::forward<decltype(arguments)>(arguments)...);
    };
  }
  void later(base::Instant::duration delay, std::function<void()> callback);

  // Reads what is known of jobs that are asked in the order of their keys.
  class Reader {
   public:
    explicit Reader(const DecisionsUnderWay& decisions)
        : decisions_(decisions), at_(decisions.jobs_.begin()) {}
    // Null if nothing is known of the job.
    [[nodiscard]] const JobState* find(const model::ObjectKey& job);

   private:
    const DecisionsUnderWay& decisions_;
    std::map<model::ObjectKey, JobState>::const_iterator at_;
  };
  // Adds the records that are being written to the snapshot.
  void overlay(model::Snapshot& snapshot);
  void forgetGoneJobs();
  // When the next back-off ends.
  [[nodiscard]] std::optional<base::Instant> nextWake() const;
  [[nodiscard]] std::size_t busyJobs() const;

 private:
  const ExecutorDependencies& deps_;
  std::function<void()> settled_;
  std::map<model::ObjectKey, JobState> jobs_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// What the next cycle learns of a job from its state.
[[nodiscard]] core::JobFeedback feedbackOn(const model::Job& job, const JobState& state, base::Instant now);

}  // namespace trainyard::operator_
