#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "sim/replay_options.h"
#include "sim/replay_result.h"
#include "sim/replay_trace.h"

namespace trainyard::sim {

// Muri's traces, and the rules of its simulator (SIGCOMM 2022; derived from Tiresias'), which are kept apart
// from our own replay so that equal policies give its published numbers. Time is in seconds as binary
// fractions there, and so here.

struct MuriJob {
  double submit = 0;    // s
  double work = 0;      // s alone on its GPUs, start-up not included
  double overhead = 0;  // s of start-up, by model and GPUs
};

struct MuriTrace {
  Trace trace;
  std::vector<MuriJob> jobs;  // of the same jobs
};

// Columns job_id, num_gpu, submit_time and iteration_time in ms, iterations, model_name; others are ignored.
[[nodiscard]] base::Result<MuriTrace> readMuriJobs(std::string file, std::string text);

// The trace by Muri's rules: decisions at arrivals and ends only (and what the policy adds), everybody placed
// anew at each; the start-up is charged again at every event, moved or not, which moves the published numbers
// by up to 12 %. kTiresias has one pool of GPUs without places; the others take the first nodes that fit,
// jobs up to a node's GPUs unsplit, larger ones whole nodes only; whoever does not fit is passed over. kSrtf
// and kSrsf know durations, kDefault where it is said. kInvalid when a job can never run.
[[nodiscard]] base::Result<ReplayResult> runMuri(
    const MuriTrace& trace, const std::vector<ReplayNode>& cluster, ReplayPolicy policy, bool withDurations,
    const std::function<void(std::size_t ended, std::size_t all)>& progress);

}  // namespace trainyard::sim
