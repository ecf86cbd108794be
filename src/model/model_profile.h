#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::model {

// How gradients are exchanged.
enum class GradientExchange {
  kByRoles,          // parameter servers if the job has a role `ps`, else all-reduce
  kAllReduce,        // ring or tree, whichever is faster
  kParameterServers  // each holds a part of the parameters
};

// The speed of a single GPU of a type for the model; label policy.gpuTypeLabel names the type.
struct TypeSpeed {
  std::string type;
  std::int64_t milliSamplesPerSecond = 0;
  friend bool operator==(const TypeSpeed&, const TypeSpeed&) = default;
};

// One measured step.
struct MeasuredStep {
  std::vector<int> workers;         // on each node that has any, in any order
  std::int64_t batchPerWorker = 0;  // samples
  std::int64_t stepNanos = 0;
  int servers = 0;      // parameter servers, on nodes without workers; 0: all-reduce, or as many as workers
  std::string gpuType;  // empty: the first of ModelProfile::speeds, or the only one there is
  friend bool operator==(const MeasuredStep&, const MeasuredStep&) = default;
};

// The input of a plan: docs/planner.md. 0 means unknown.
struct ModelProfile {
  std::string name;
  std::int64_t parameters = 0;
  int bytesPerParameter = 4;
  std::int64_t largestTensorBytes = 0;
  int layers = 0;
  std::int64_t flopsPerSample = 0;     // of one training step, forward and backward
  std::int64_t batchSize = 0;          // samples in a step over all workers
  std::int64_t batchPerWorker = 0;     // in its place, if the global batch grows with the workers
  std::int64_t maxBatchPerWorker = 0;  // limit of a worker's memory; a larger batch is accumulated
  std::int64_t samples = 0;            // of the data set
  std::int64_t sampleBytes = 0;
  std::int64_t inputBytesPerSecond = 0;  // that one node can read
  bool synchronous = true;
  GradientExchange exchange = GradientExchange::kByRoles;
  std::vector<TypeSpeed> speeds;
  std::vector<MeasuredStep> measurements;

  [[nodiscard]] std::int64_t parameterBytes() const { return parameters * bytesPerParameter; }
  friend bool operator==(const ModelProfile&, const ModelProfile&) = default;
};

}  // namespace trainyard::model
