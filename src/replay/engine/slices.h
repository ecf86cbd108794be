#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "base/error.h"
#include "core/order/order_policy.h"
#include "model/policy.h"
#include "replay/engine/result.h"
#include "replay/traces/trace.h"

namespace trainyard::replay {

// How a replay decides.
struct ReplayRules {
  core::OrderSettings order;
  // Running jobs may be stopped for better ones; else the first job of a queue that finds no place stops
  // those behind it.
  bool preempts = false;
  // Policies are told how much longer a job runs.
  bool knowsDurations = false;
  // While somebody waits, decide at least so often, though nothing happens.
  ReplayTime interval = std::chrono::minutes(30);
  // After some time of waiting a job may be cut into single GPUs, anywhere.
  std::optional<model::RelaxationPolicy> relaxation = std::nullopt;
};

// What a replay decided, for tests: job indices.
struct ReplayDecision {
  enum class Kind { kStart, kStop, kMove };
  ReplayTime at{0};
  Kind kind = Kind::kStart;
  std::size_t job = 0;
  friend bool operator==(const ReplayDecision&, const ReplayDecision&) = default;
};

struct ReplayHooks {
  std::function<void(std::size_t ended, std::size_t all)> progress = [](std::size_t, std::size_t) {};
  std::function<void(const ReplayDecision&)> decided = [](const ReplayDecision&) {};
};

// Runs the trace on the cluster under virtual time, from submission to the last end. Start-up is paid on a
// real start, resume or move, never else. kInvalid when a job does not even fit on the empty cluster.
[[nodiscard]] base::Result<ReplayResult> runEngine(const Trace& trace, const std::vector<ReplayNode>& cluster,
                                                   const ReplayRules& rules, const ReplayHooks& hooks);

}  // namespace trainyard::replay
