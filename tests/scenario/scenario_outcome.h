#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/snapshot.h"
#include "scenario/scenario_file.h"

// The common part of both runners: the texts of outcomes, and their comparison with the expectations.
namespace trainyard::test {

// Returns the tightest level that contains all of the nodes: "rack z/b1/r3", or "the cluster".
[[nodiscard]] std::string tightest(const std::vector<model::NodeName>& nodes,
                                   const model::Snapshot& snapshot);

// Formats one line for each assignment: "worker 0-1 on n1".
[[nodiscard]] std::vector<std::string> linesOf(const std::vector<model::Assignment>& assignments);

// Returns true if the outcome is as expected. Sentences (below `waits`, `ended` and `has event`) may be
// wrapped in the file, and "..." stands for any text; without lines below, any sentence matches.
[[nodiscard]] bool agrees(const Expectation& expected, const Expectation& actual);

// Prints both sides if they differ, "-" the expected one and "+" the actual one; returns true if they agree.
[[nodiscard]] bool compare(const Expectation& expected, const Expectation& actual);

// Runs it through one cycle of the pure core: order, place, preempt, explain; templates count as valid.
[[nodiscard]] bool runMoment(const Scenario& scenario);

// Runs it through the whole operator on the in-memory cluster, under virtual time.
[[nodiscard]] bool runInTime(const Scenario& scenario);

}  // namespace trainyard::test
