#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/resources.h"

namespace trainyard::replay {

using ReplayTime = std::chrono::microseconds;  // since the first submission

// What everybody knows of a job once it was submitted, and policies with them.
struct TraceJob {
  std::string name;
  std::uint32_t queue = 0;  // index into Trace::queues
  int gpus = 1;
  ReplayTime submitted{0};
};

// What only time tells. Kept apart from TraceJob, so that no policy can look it up.
struct TraceWork {
  ReplayTime duration{0};  // running alone on its GPUs, start-up not included
  ReplayTime startup{0};   // before it progresses for the first time
  ReplayTime resume{0};    // before it progresses after a stop or a move
};

struct Trace {
  std::vector<std::string> queues;  // sorted
  std::vector<TraceJob> jobs;       // in the order of submission, of the file where that is equal
  std::vector<TraceWork> work;      // of the same jobs
};

struct ReplayNode {
  std::string name;
  int gpus = 0;
  // Absent: GPUs are all that counts there.
  std::optional<model::Resources> others = std::nullopt;
};

// "8x8", nodes times GPUs of each; kInvalid otherwise. At most 100,000 nodes of at most 1,000 GPUs.
[[nodiscard]] base::Result<std::vector<ReplayNode>> parseClusterShape(std::string_view text);

// A cluster file: columns machineId and "number of GPUs" as Philly's; num_switch, num_node_p_switch and
// num_gpu_p_node as Muri's; or name, cpu, gpus and memory_gib. The columns tell which.
[[nodiscard]] base::Result<std::vector<ReplayNode>> readClusterFile(std::string file, std::string text);

// Philly's flattened job list: timestamp (date and time of submission), duration in s, num_gpus, cluster
// (the virtual cluster, which is the queue).
[[nodiscard]] base::Result<Trace> readPhillyJobs(std::string file, std::string text);

// Microsoft ITP: job_id, submission_time and duration in s, num_gpu. One queue.
[[nodiscard]] base::Result<Trace> readItpJobs(std::string file, std::string text);

// Sorts by submission, counts time from the first one, and refuses what could not be counted in
// microseconds: all jobs after one another take longer than 100,000 years. `file` is for the error.
[[nodiscard]] base::Result<Trace> finishTrace(std::string_view file, Trace trace);

}  // namespace trainyard::replay
