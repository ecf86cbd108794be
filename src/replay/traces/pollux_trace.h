#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// The GPUs of a job by node, without empty nodes.
using PolluxPlacement = std::vector<int>;

struct StepTime {
  double step = 0;  // s of one optimizer step
  double sync = 0;  // s of it for the exchange of gradients
};

// How one application of Pollux' workloads (OSDI 2021) trains: its measured step times, and the progress of a
// step at each batch size.
class PolluxApplication {
 public:
  // `folder` holds placements.csv, scalability.csv and validation-BATCH.csv of the application `name`.
  [[nodiscard]] static base::Result<PolluxApplication> read(
      const std::string& name, const std::string& folder,
      const std::function<base::Result<std::string>(const std::string& path)>& readFile);

  // Linear between measured batch sizes, outside of them as at the nearest one. Up to four nodes as measured
  // for the placement; beyond, linear between the measured numbers of GPUs, then of nodes.
  [[nodiscard]] StepTime stepTime(const PolluxPlacement& placement, double localBatch) const;
  // The progress per second of a job with the global batch size `batch` in the present epoch: the artifact's
  // rule for accumulation, and gain = (variance + square) / (variance / scale + square).
  [[nodiscard]] double goodput(const PolluxPlacement& placement, int batch, std::size_t epoch) const;

  // The seconds of the whole training. `adapts`: each epoch uses the batch size with the highest goodput, of
  // its own and the measured ones, as Pollux' agents choose it.
  [[nodiscard]] double runSeconds(const PolluxPlacement& placement, int batch, bool adapts) const;

  [[nodiscard]] std::size_t epochs() const { return boundaries_.size(); }
  // The progress after this many epochs, at least one.
  [[nodiscard]] double progressAfter(std::size_t epochs) const { return boundaries_[epochs - 1]; }

 private:
  struct Point {
    double localBatch = 0;
    StepTime time;
  };
  using Curve = std::vector<Point>;  // by batch size
  struct Statistics {
    double square = 0;
    double variance = 0;
  };

  [[nodiscard]] static StepTime at(const Curve& curve, double localBatch);
  [[nodiscard]] StepTime atShape(int nodes, int gpus, double localBatch) const;
  [[nodiscard]] Statistics statistics(double batch, std::size_t epoch) const;
  base::Result<void> readPlacements(const std::string& file, std::string text);
  base::Result<void> readScalability(const std::string& file, std::string text);
  base::Result<void> readValidation(int batch, std::size_t epochs, const std::string& file, std::string text);

  int minBatch_ = 0;
  int maxBatch_ = 0;
  int maxLocal_ = 0;
  std::map<PolluxPlacement, Curve> placements_;
  std::map<int, std::map<int, Curve>> shapes_;         // by nodes and GPUs
  std::map<int, std::vector<Statistics>> statistics_;  // by batch size; of each epoch
  std::vector<double> boundaries_;
};

struct PolluxJob {
  std::shared_ptr<const PolluxApplication> application;
  int batch = 0;
};

struct PolluxTrace {
  // Durations are those of the requested GPUs on as few nodes of the cluster as possible, kept throughout.
  Trace trace;
  std::vector<PolluxJob> jobs;
};

// Columns name, time in s, application, num_replicas, batch_size. The tables are in ../traces/APPLICATION/,
// relative to the workload's folder.
[[nodiscard]] base::Result<PolluxTrace> readPolluxJobs(
    const std::string& file, int gpusPerNode,
    const std::function<base::Result<std::string>(const std::string& path)>& readFile);

}  // namespace trainyard::replay
