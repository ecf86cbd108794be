#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/job.h"
#include "replay/engine/cluster.h"
#include "replay/engine/engine.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// Makes the TrainingJobs of a replay from the jobs of its trace, as runEngine() describes them; `job` is an
// index into the trace. Elastic jobs begin with their desired size.
class JobFactory {
 public:
  // The trace and the setup must outlive the factory.
  JobFactory(const Trace& trace, const std::vector<ReplayNode>& cluster, const ReplaySetup& setup);

  [[nodiscard]] model::Job make(std::size_t job) const;
  // Returns the index of a job that make() returned.
  [[nodiscard]] static std::size_t indexOf(const model::Job& job);

  // The shape that its user requests.
  [[nodiscard]] GangShape shapeOf(std::size_t job) const;
  // The bounds of an elastic job.
  [[nodiscard]] const std::optional<ReplayElastic::Range>& rangeOf(std::size_t job) const {
    return ranges_[job];
  }
  [[nodiscard]] std::optional<model::Checkpoint> checkpointOf(std::size_t job) const;
  // The time that a resume or a change of the placement costs.
  [[nodiscard]] ReplayTime restartOf(std::size_t job) const;

 private:
  [[nodiscard]] bool relaxes(std::size_t job) const;

  const Trace& trace_;
  const ReplaySetup& setup_;
  const int largest_;  // GPUs of the largest node
  std::vector<std::optional<ReplayElastic::Range>> ranges_;
};

}  // namespace trainyard::replay
