#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "base/error.h"
#include "model/policy.h"
#include "replay/engine/options.h"
#include "replay/engine/result.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// Which jobs may be resized, and how fast they are then. Whatever changes a job's places pauses it for its
// restart and loses nothing.
struct ReplayElastic {
  struct Range {
    int least = 0;
    int wished = 0;
    int most = 0;
    model::Resources member;  // what each asks for
  };
  // Absent: the job has the size that the trace says.
  std::function<std::optional<Range>(std::size_t job)> range;
  // With so many members on each of its nodes, as a part of the speed that the trace's duration is of.
  std::function<double(std::size_t job, const std::vector<int>& membersByNode)> speed;
  // Whether jobs report how fast they are.
  bool reports = true;
};

// What is asked of core::schedule(), besides the trace.
struct ReplaySetup {
  model::Policy policy;
  // Every job says how long it will run, exactly; else no job says anything.
  bool knowsDurations = false;
  // Jobs up to a node's GPUs prefer one node, and give that up as the policy has it; else they insist.
  bool relaxes = false;
  // Jobs of all the trace's queues wait in one, of which nothing is guaranteed to anybody.
  bool oneQueue = false;
  // Which jobs declare checkpoints, and what a stop costs them; none: nobody does.
  ReplayCheckpoint checkpoint;
  // Absent: jobs have the size that the trace says.
  std::optional<ReplayElastic> elastic = std::nullopt;
};

// What a replay decided, for tests: job indices.
struct ReplayDecision {
  enum class Kind { kStart, kStop, kMove, kResize };
  ReplayTime at{0};
  Kind kind = Kind::kStart;
  std::size_t job = 0;
  friend bool operator==(const ReplayDecision&, const ReplayDecision&) = default;
};

// From `at` on the job has so many members, in other places than before, and does nothing new in the first
// `pause`. None: it was stopped, or has ended. In the order of time.
struct ReplayHolding {
  ReplayTime at{0};
  std::size_t job = 0;
  int members = 0;
  ReplayTime pause{0};
  bool ended = false;
};

struct ReplayHooks {
  std::function<void(std::size_t ended, std::size_t all)> progress = [](std::size_t, std::size_t) {};
  std::function<void(const ReplayDecision&)> decided = [](const ReplayDecision&) {};
  std::function<void(const ReplayHolding&)> held = [](const ReplayHolding&) {};
};

// Runs the trace under virtual time, from submission to the last end, by the decisions of the operator's own
// core::schedule(), carried out at once (core/cycle/instant_cycle.h): TrainingJobs in queues on the nodes of
// a snapshot, asked at every arrival and end, and when the schedule wants to be asked again.
//
// Every job is preemptible. Small jobs have a worker for each GPU where they may relax, else one worker;
// large ones have workers as large as nodes allow, all alike. Every queue of the trace is guaranteed its part
// of the cluster (engine/meter.h), as its weight is, where there are several and the policy backfills; by
// strict order nobody is stopped. What a job has run is learnt when it ends, as the operator learns it.
//
// Start-up is paid on a start; on a resume or a move the restart. A stop loses what the job did since its
// last checkpoint, counted as core/order/stop_cost.h counts; a job without any begins anew. kInvalid when a
// job does not even fit on the empty cluster: an elastic one with its least.
[[nodiscard]] base::Result<ReplayResult> runEngine(const Trace& trace, const std::vector<ReplayNode>& cluster,
                                                   const ReplaySetup& setup, const ReplayHooks& hooks);

}  // namespace trainyard::replay
