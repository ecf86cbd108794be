#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/executor.h"
#include "core/cycle.h"
#include "operator/console/callers.h"
#include "operator/console/live_facts.h"
#include "operator/console/what_if_turns.h"

namespace trainyard::operator_::console {

// Runs long work on another thread, and the task that it returns on the console's executor.
using ConsoleOffload = std::function<void(std::function<base::Task()>)>;

// Tries out jobs on the cluster as it is, away from the console's thread, within the limits of each tenant
// (WhatIfTurns).
class TrialRunner {
 public:
  using Turn = std::shared_ptr<void>;

  TrialRunner(base::Executor& executor, LiveFacts& facts, ConsoleOffload offload, core::Settings settings)
      : facts_(facts), offload_(std::move(offload)), settings_(settings), turns_(executor) {}

  // Null if the client has left or was asked to try again later.
  [[nodiscard]] Turn turnOf(const ExchangePtr& exchange, const Viewer& viewer);
  // Replies with what `work` makes of the cluster; ends the turn.
  void run(const ExchangePtr& exchange, Turn turn, std::function<net::HttpResponse(core::CycleInput)> work);
  // Other long work.
  void offload(std::function<base::Task()> work) { offload_(std::move(work)); }

 private:
  LiveFacts& facts_;
  ConsoleOffload offload_;
  core::Settings settings_;
  WhatIfTurns turns_;
};

}  // namespace trainyard::operator_::console
