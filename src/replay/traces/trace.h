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

[[nodiscard]] inline double secondsOf(ReplayTime time) { return std::chrono::duration<double>(time).count(); }

// What a policy may use about a job after its submission.
struct TraceJob {
  std::string name;
  std::uint32_t queue = 0;  // index into Trace::queues
  int gpus = 1;
  ReplayTime submitted{0};
};

// What only time reveals. It is separate from TraceJob, so that no policy can read it.
struct TraceWork {
  ReplayTime duration{0};  // running alone on its GPUs, start-up not included
  ReplayTime startup{0};   // before it progresses for the first time
  ReplayTime resume{0};    // before it progresses after a stop or a move
};

struct Trace {
  std::vector<std::string> queues;  // sorted
  std::vector<TraceJob> jobs;       // in the order of submission, then of the file
  std::vector<TraceWork> work;      // of the same jobs
};

struct ReplayNode {
  std::string name;
  int gpus = 0;
  // nullopt: only GPUs are counted.
  std::optional<model::Resources> others = std::nullopt;
};

// Parses "8x8", nodes times GPUs of each; kInvalid otherwise. At most 100,000 nodes of at most 1,000 GPUs.
[[nodiscard]] base::Result<std::vector<ReplayNode>> parseClusterShape(std::string_view text);

// A cluster file: columns machineId and "number of GPUs" as Philly's; num_switch, num_node_p_switch and
// num_gpu_p_node as Muri's; or name, cpu, gpus and memory_gib. The columns determine the format.
[[nodiscard]] base::Result<std::vector<ReplayNode>> readClusterFile(std::string file, std::string text);

// Philly's flattened job list: timestamp (date and time of submission), duration in s, num_gpus, cluster
// (the virtual cluster, which is the queue).
[[nodiscard]] base::Result<Trace> readPhillyJobs(std::string file, std::string text);

// Microsoft ITP: job_id, submission_time and duration in s, num_gpu. One queue.
[[nodiscard]] base::Result<Trace> readItpJobs(std::string file, std::string text);

// Sorts by submission and counts time from the first one. Refuses times that exceed microseconds: all jobs
// run one after another take longer than 100,000 years. `file` is for the error.
[[nodiscard]] base::Result<Trace> finishTrace(std::string_view file, Trace trace);

}  // namespace trainyard::replay
