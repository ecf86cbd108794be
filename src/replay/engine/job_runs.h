#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "core/forecast/instant_cycle.h"
#include "replay/engine/engine.h"
#include "replay/engine/job_factory.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// GPU seconds of work.
struct GpuWork {
  double progressed = 0;
  double lost = 0;  // undone by a preemption
};

// The progress of the jobs of a replay: the phase and the remaining work of each job, and when the present
// runs will end. `job` is an index into the trace.
//
// It writes to the jobs of the cycle what they report or declare: their speed at each size, and their
// remaining duration.
class JobRuns {
 public:
  // The arguments must outlive the object.
  JobRuns(const Trace& trace, const ReplaySetup& setup, const JobFactory& jobs, core::InstantCycle& cycle)
      : trace_(trace), setup_(setup), jobs_(jobs), cycle_(cycle), states_(trace.jobs.size()) {}

  // The job waits from now on.
  void submit(std::size_t job, const model::ObjectKey& key);
  // Starts a run in the placement of the job's record.
  [[nodiscard]] ReplayHolding start(std::size_t job, ReplayTime now);
  // Stops the present run; the job waits again, or is started in another placement.
  [[nodiscard]] GpuWork stop(std::size_t job, ReplayTime now);
  // The present run reached the end of the job's work.
  [[nodiscard]] GpuWork end(std::size_t job);

  // Returns the end of the run that ends first.
  [[nodiscard]] std::optional<ReplayTime> nextEnd();
  // Returns a job whose run ends now; the caller calls end() before it asks for the next one.
  [[nodiscard]] std::optional<std::size_t> nextDue(ReplayTime now);

  [[nodiscard]] const model::ObjectKey& keyOf(std::size_t job) const { return states_[job].key; }
  // GPUs of the present run.
  [[nodiscard]] int gpusOf(std::size_t job) const { return states_[job].gpus; }
  // Numbers of jobs.
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  [[nodiscard]] std::size_t ended() const { return ended_; }
  [[nodiscard]] std::size_t all() const { return states_.size(); }

 private:
  enum class Phase { kComing, kWaiting, kRunning, kEnded };

  struct State {
    model::ObjectKey key;
    Phase phase = Phase::kComing;
    ReplayTime remaining{0};  // work, without start-up, when it last started or stopped
    ReplayTime since{0};      // of its placement
    ReplayTime startup{0};    // of the present run
    bool resumes = false;     // from a checkpoint, once it starts again
    std::uint32_t run = 0;    // counts starts, moves and resizes
    double speed = 1;         // of the present run, of that of the trace's duration
    int gpus = 0;             // of the present run
    int members = 0;          // of the present run
  };

  struct End {
    ReplayTime at{0};
    std::size_t job = 0;
    std::uint32_t run = 0;
    bool operator>(const End& other) const { return std::tie(at, job) > std::tie(other.at, other.job); }
  };

  [[nodiscard]] bool runs(const End& end) const;
  void readSize(std::size_t job);
  void reportSpeed(std::size_t job);
  void setEstimate(std::size_t job);

  const Trace& trace_;
  const ReplaySetup& setup_;
  const JobFactory& jobs_;
  core::InstantCycle& cycle_;
  std::vector<State> states_;
  std::size_t waiting_ = 0;
  std::size_t ended_ = 0;
  // Preempted or moved jobs leave outdated ends behind.
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace trainyard::replay
