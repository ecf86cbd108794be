#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// Muri's traces (SIGCOMM 2022). Its simulator has times in seconds as binary fractions, and so has this one.

struct MuriJob {
  double submit = 0;    // s
  double work = 0;      // s alone on its GPUs, without start-up
  double overhead = 0;  // s of start-up, by model and GPUs
};

struct MuriTrace {
  Trace trace;
  std::vector<MuriJob> jobs;  // of the same jobs
};

// Columns job_id, num_gpu, submit_time and iteration_time in ms, iterations, model_name; others are ignored.
[[nodiscard]] base::Result<MuriTrace> readMuriJobs(std::string file, std::string text);

}  // namespace trainyard::replay
