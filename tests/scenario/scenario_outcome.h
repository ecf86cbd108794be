#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/snapshot.h"
#include "scenario/scenario_file.h"

// What both runners share: the words for what happened, and what differs from what was expected.
namespace trainyard::test {

// "rack z/b1/r3", or "the cluster": the tightest level that holds all of them.
[[nodiscard]] std::string tightest(const std::vector<model::NodeName>& nodes,
                                   const model::Snapshot& snapshot);

// One line for each assignment: "worker 0-1 on n1".
[[nodiscard]] std::vector<std::string> linesOf(const std::vector<model::Assignment>& assignments);

// Whether it is as expected. Sentences (the lines below `waits`, `ended` and `has event`) may be wrapped in
// the file, and "..." in one stands for any text; without lines below any sentence will do.
[[nodiscard]] bool agrees(const Expectation& expected, const Expectation& actual);

// Prints both sides where they differ, "-" what the file expects and "+" what happened; true when they agree.
[[nodiscard]] bool compare(const Expectation& expected, const Expectation& actual);

// Runs it through one cycle of the pure core: order, place, preempt, explain; templates count as checked.
[[nodiscard]] bool runMoment(const Scenario& scenario);

// Runs it through the whole operator on the in-memory cluster, under virtual time.
[[nodiscard]] bool runInTime(const Scenario& scenario);

}  // namespace trainyard::test
