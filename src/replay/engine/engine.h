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

// Which jobs may be resized, and their speed at each size. Every change of a job's placement pauses it for
// its restart and loses no work.
struct ReplayElastic {
  struct Range {
    int minimum = 0;
    int desired = 0;
    int most = 0;
    model::Resources member;  // the requests of one member
  };
  // nullopt: the job has the size of the trace.
  std::function<std::optional<Range>(std::size_t job)> range;
  // The speed with this many members on each of its nodes, relative to the speed of the trace's duration.
  std::function<double(std::size_t job, const std::vector<int>& membersByNode)> speed;
  // Jobs report their speed.
  bool reports = true;
};

// The settings of core::schedule(), besides the trace.
struct ReplaySetup {
  model::Policy policy;
  // Every job declares its exact duration; otherwise no job declares one.
  bool knowsDurations = false;
  // Jobs up to a node's GPUs prefer one node, and relax that as the policy allows; otherwise they insist.
  bool relaxes = false;
  // All jobs wait in one queue, without any guaranteed quota.
  bool oneQueue = false;
  // Which jobs declare checkpoints, and what a preemption costs them; by default none.
  ReplayCheckpoint checkpoint;
  // nullopt: jobs have the size of the trace.
  std::optional<ReplayElastic> elastic = std::nullopt;
};

// A decision of the replay, for tests; jobs are indices.
struct ReplayDecision {
  enum class Kind { kStart, kPreempt, kMove, kResize };
  ReplayTime at{0};
  Kind kind = Kind::kStart;
  std::size_t job = 0;
  friend bool operator==(const ReplayDecision&, const ReplayDecision&) = default;
};

// From `at` on the job has this many members in a new placement, and makes no progress in the first `pause`.
// Without members it was preempted or has ended. Sorted by time.
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

// Runs the trace under virtual time, from the first submission to the last end. The operator's own
// core::schedule() decides; its decisions take effect at once (core/forecast/instant_cycle.h). TrainingJobs
// in queues run on a snapshot's nodes. A cycle runs at every arrival and end, and when the schedule requests
// it.
//
// Every job is preemptible. Small jobs have a worker for each GPU if they may relax, otherwise one worker;
// large ones have equal workers, as large as nodes allow. With several queues and a policy that backfills,
// every queue is guaranteed its part of the cluster (engine/meter.h). In strict order no job is preempted.
// The run times of jobs are learned when they end.
//
// A start costs the start-up time; a resume or a move costs the restart time. A preemption loses the work
// since the last checkpoint (core/order/preemption_cost.h); a job without checkpoints starts from zero.
// kInvalid if a job does not fit on the empty cluster, an elastic one with its minimum.
[[nodiscard]] base::Result<ReplayResult> runEngine(const Trace& trace, const std::vector<ReplayNode>& cluster,
                                                   const ReplaySetup& setup, const ReplayHooks& hooks);

}  // namespace trainyard::replay
