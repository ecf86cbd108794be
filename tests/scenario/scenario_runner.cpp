// Runs scenario files through one cycle of the pure core and prints what differs from what they expect.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "core/cycle.h"
#include "core/domains.h"
#include "scenario/scenario_file.h"

namespace {

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

// "rack z/b1/r3": the tightest level that holds all of them.
std::string tightest(const std::vector<model::Assignment>& assignments, const model::Snapshot& snapshot) {
  const core::Domains domains(snapshot.nodes, snapshot.policy.topology);
  std::map<model::NodeName, std::uint32_t> positions;
  for (std::size_t i = 0; i < snapshot.nodes.size(); ++i)
    positions.emplace(snapshot.nodes[i]->name, domains.positionOf(i));
  std::uint32_t first = UINT32_MAX;
  std::uint32_t last = 0;
  for (const model::Assignment& each : assignments) {
    first = std::min(first, positions.at(each.node));
    last = std::max(last, positions.at(each.node));
  }
  for (std::size_t level = domains.nodeLevel(); level > 0; --level) {
    if (domains.domainOf(level, first).end <= last) continue;
    return fmt::format("{} {}", domains.levels()[level].name, domains.path(level, first));
  }
  return "the cluster";
}

Expectation outcomeOf(const model::Job& job, const model::JobStatus& status,
                      const model::Snapshot& snapshot) {
  Expectation outcome;
  outcome.job = fmt::to_string(job.key);
  if (status.gang.proposal) {
    const auto& add = status.gang.proposal->add;
    outcome.head = fmt::format("starts in {}", tightest(add, snapshot));
    for (const model::Assignment& each : add) {
      outcome.body.push_back(fmt::format("{} {} on {}", each.role, each.indices.str(), each.node));
    }
  } else if (status.pending) {
    outcome.head = fmt::format("waits {}", model::toString(status.pending->reason));
    outcome.body.push_back(status.pending->message);
  } else if (status.gang.placed) {
    outcome.head = "runs on";
  } else {
    outcome.head = "is left alone";
  }
  return outcome;
}

// Outcomes of every job, by name, after one cycle in which all templates are known to be fine.
std::map<std::string, Expectation> runCore(const model::Snapshot& snapshot) {
  core::CycleInput input;
  input.snapshot = snapshot;
  input.term = 1;
  for (const auto& job : snapshot.jobs) {
    core::JobFeedback feedback;
    feedback.templateError = "";
    feedback.auxiliariesReady = true;
    input.feedback.emplace(job->key, std::move(feedback));
  }
  std::map<std::string, Expectation> outcomes;
  for (const auto& job : snapshot.jobs)
    outcomes.emplace(fmt::to_string(job->key), outcomeOf(*job, job->status, snapshot));
  const core::Plan plan = core::cycle(input);
  for (const core::JobDecision& decision : plan.decisions) {
    if (!decision.status) continue;
    outcomes[fmt::to_string(decision.job->key)] = outcomeOf(*decision.job, *decision.status, snapshot);
  }
  return outcomes;
}

std::vector<std::string> linesOf(const Expectation& expectation) {
  std::vector<std::string> lines = {fmt::format("expect {} {}", expectation.job, expectation.head)};
  // Sentences may be wrapped in the file.
  if (expectation.head.rfind("waits", 0) == 0) {
    std::string sentence;
    for (const std::string& part : expectation.body) sentence += (sentence.empty() ? "" : " ") + part;
    lines.push_back("  " + sentence);
    return lines;
  }
  for (const std::string& line : expectation.body) lines.push_back("  " + line);
  return lines;
}

// Prints both sides; true when they are the same.
bool compare(const Expectation& expected, const Expectation& actual) {
  const std::vector<std::string> wanted = linesOf(expected);
  const std::vector<std::string> got = linesOf(actual);
  if (wanted == got) return true;
  for (const std::string& line : wanted) {
    const bool same = std::find(got.begin(), got.end(), line) != got.end();
    fmt::print("  {} {}\n", same ? " " : "-", line);
  }
  for (const std::string& line : got) {
    if (std::find(wanted.begin(), wanted.end(), line) == wanted.end()) fmt::print("  + {}\n", line);
  }
  return false;
}

bool runFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    fmt::print("{}: cannot be read\n", path);
    return false;
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto scenario = parseScenario(path, text);
  if (!scenario) {
    fmt::print("{}\n", scenario.error().message);
    return false;
  }
  fmt::print("{}: {}\n", path, scenario->title);
  const std::map<std::string, Expectation> outcomes = runCore(scenario->snapshot);
  bool good = true;
  std::map<std::string, int> mentioned;
  for (const Expectation& expected : scenario->expectations) {
    ++mentioned[expected.job];
    const auto actual = outcomes.find(expected.job);
    if (actual == outcomes.end()) {
      fmt::print("  - expect {}: there is no such job\n", expected.job);
      good = false;
      continue;
    }
    good = compare(expected, actual->second) && good;
  }
  for (const auto& [name, actual] : outcomes) {
    if (mentioned.count(name) != 0 || actual.head == "runs on") continue;
    good = compare({name, "nothing: the file does not mention it", {}}, actual) && good;
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: scenario_runner FILE.scenario …\n");
    return 2;
  }
  bool good = true;
  for (int i = 1; i < argc; ++i) good = runFile(argv[i]) && good;
  return good ? 0 : 1;
}
