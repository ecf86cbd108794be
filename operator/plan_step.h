#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "operator/plan_executor.h"

// Private to plan_executor.cpp and plan_actions.cpp.
namespace trainyard::operator_ {

struct PlanExecutor::JobState {
  bool busy = false;
  model::Uid uid;
  int failures = 0;
  base::Instant notBefore = base::Instant::min();
  // The gang record that a status write carries right now.
  std::optional<model::GangRecord> writing;
  // Facts about one epoch, so that they end with it.
  std::int64_t auxiliariesEpoch = 0;
  std::int64_t refusedEpoch = 0;
  std::optional<core::JobFeedback::CreationRefused> creationRefused;
};

struct PlanExecutor::Step {
  core::JobDecision decision;
  std::string path;               // of the job
  std::string templateError;      // first one found by CheckTemplates
  std::int64_t ensuredEpoch = 0;  // whose Service and ConfigMap this step makes
  std::size_t openParts = 0;
  bool good = true;
};

}  // namespace trainyard::operator_
