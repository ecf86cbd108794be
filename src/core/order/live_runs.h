#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "core/order/job_times.h"
#include "model/job.h"
#include "model/shared_list.h"

namespace trainyard::core {

// The jobs of a cluster that have not ended (running, preempted or never started), by the kinds that they
// learn from (core/order/run_times.h). It follows the list of jobs at the cost of what changed.
class LiveRuns {
 public:
  using Kind = std::uint64_t;  // kindNumbersOf()
  using JobPtr = std::shared_ptr<const model::Job>;

  // Facts that follow from the job alone.
  struct Facts {
    std::array<Kind, 3> kinds{};
    std::int64_t gpus = 0;  // model::gangGpus
  };

  // The list is sorted by key. Keeps the list alive.
  void follow(const model::SharedList<model::Job>& jobs);
  // The few fields that other jobs read, in one contiguous array: in the jobs they lie scattered.
  struct Run {
    const model::Job* job = nullptr;
    base::WallTime submitted{};
    RunClock ran;
  };
  // Returns the live runs of a kind, by submission, then key.
  [[nodiscard]] const std::vector<Run>& of(Kind kind) const;
  // Accepts any job; cheaper for jobs of the list.
  [[nodiscard]] Facts factsOf(const model::Job& job) const;

 private:
  void add(const JobPtr& job);
  void remove(const JobPtr& job);

  model::SharedList<model::Job> jobs_;
  std::unordered_map<const model::Job*, Facts> facts_;
  std::unordered_map<Kind, std::vector<Run>> live_;
};

}  // namespace trainyard::core
