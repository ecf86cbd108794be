#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/failure_rule.h"

namespace trainyard::core {

// Returns all built-in rules. Rules are data: a new message needs a new row in one of the rules_*.cpp files
// and a test case under tests/failures.
[[nodiscard]] std::vector<model::FailureRule> builtInRules();

using Rules = std::vector<model::FailureRule>;

// Returns a rule about log lines. Its confidence follows from its weight, that is, from how specific it is.
[[nodiscard]] inline model::FailureRule logRule(std::string name, model::FailureClass failure,
                                                model::Sign sign, int weight, std::string pattern) {
  using enum model::Confidence;
  const model::Confidence confidence = weight >= 60 ? kHigh : weight >= 40 ? kMedium : kLow;
  return {.name = std::move(name),
          .failure = failure,
          .sign = sign,
          .weight = weight,
          .confidence = confidence,
          .log = std::move(pattern)};
}

void addPodRules(Rules& rules);      // reasons and messages of pods in the API, exit codes
void addGpuRules(Rules& rules);      // devices, drivers, memory of both kinds
void addNetworkRules(Rules& rules);  // collectives, rendezvous, MPI, names, closed connections
void addProgramRules(Rules& rules);  // the user's program, its input and its libraries
void addStorageRules(Rules& rules);  // disks, file systems, object stores, checkpoints
void addLineRules(Rules& rules);     // lines that are no evidence

}  // namespace trainyard::core
