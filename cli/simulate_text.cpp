#include "cli/simulate_text.h"

#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/table.h"
#include "model/charge.h"
#include "model/message_text.h"

namespace trainyard::cli {
namespace {

using core::Expectation;
using core::Forecast;
using Outcome = core::Forecast::Outcome;

constexpr std::size_t kNamedEnds = 3;

// A job that the user may not read has no namespace here.
std::string nameOf(const model::ObjectKey& job) { return job.ns.empty() ? job.name : fmt::to_string(job); }

// Returns "worker 0-3" for each node; for several roles "chief 0, worker 0-3".
std::map<model::NodeName, std::string> membersByNode(const std::vector<model::Assignment>& assignments) {
  std::map<model::NodeName, std::string> byNode;
  for (const model::Assignment& each : assignments) {
    std::string& text = byNode[each.node];
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", each.role, each.indices.str());
  }
  return byNode;
}

std::string startText(const Forecast& forecast) {
  std::string text = fmt::format("{} would start now on {}.\n", forecast.job->key, forecast.where);
  std::vector<std::vector<std::string>> rows{{"  NODE", "MEMBERS"}};
  for (const auto& [node, members] : membersByNode(forecast.assignments))
    rows.push_back({"  " + node.str(), members});
  text += formatTable(rows);
  if (forecast.stops.empty()) return text;
  text += fmt::format("  {} would be preempted for it:\n",
                      model::counted(static_cast<std::int64_t>(forecast.stops.size()), "gang"));
  std::vector<std::vector<std::string>> stops{{"  JOB", "QUEUE", "GPUS", "LOST WORK", "THEN"}};
  for (const Forecast::Stop& stop : forecast.stops) {
    stops.push_back({"  " + nameOf(stop.job->key), model::shownQueue(*stop.job).str(),
                     fmt::to_string(stop.job->status.gpus), formatWork(stop.lostGpuSeconds),
                     stop.goesTo.empty() ? "waits again" : "restarts on " + stop.goesTo});
  }
  return text + formatTable(stops);
}

std::string endsText(const std::vector<Expectation::End>& ends) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(kNamedEnds, ends.size()); ++i) {
    words.push_back(fmt::format("{} ({}about {})", nameOf(ends[i].job),
                                ends[i].waitsNow ? "which waits now, " : "", base::formatTime(ends[i].at)));
  }
  if (ends.size() > kNamedEnds)
    words.push_back(model::counted(static_cast<std::int64_t>(ends.size() - kNamedEnds), "more job"));
  return fmt::format("when {} {} ended", model::joinList(words), ends.size() == 1 ? "has" : "have");
}

std::string expectationText(const std::optional<Expectation>& expected, base::WallTime now) {
  if (!expected) {
    return "  Its start is unknown: running jobs have no estimates (spec.estimate.durationSeconds).\n";
  }
  std::vector<std::string> because;
  if (!expected->after.empty()) because.push_back(endsText(expected->after));
  if (expected->relaxation)
    because.push_back(
        fmt::format("when a wider domain is accepted ({})", base::formatTime(*expected->relaxation)));
  const auto add = [&](std::string_view what, const std::vector<model::ObjectKey>& jobs) {
    std::vector<std::string> names;
    for (const model::ObjectKey& each : jobs) names.push_back(nameOf(each));
    if (!names.empty()) because.push_back(fmt::format("{} {}", what, model::joinList(names)));
  };
  add("preempting", expected->stops);
  add("moving", expected->moves);
  // With the precision of the output: a console's answer has no finer times.
  const auto start = std::chrono::floor<std::chrono::seconds>(expected->start);
  const auto since = std::chrono::floor<std::chrono::seconds>(now);
  const std::string when =
      start <= since ? "in a moment"
                     : fmt::format("at {} (in {})", base::formatTime(start), formatAge(since, start));
  return fmt::format("  Expected to start {}, on {}{}{}.\n", when, expected->where,
                     because.empty() ? "" : ", ", model::joinList(because));
}

std::string waitText(const Forecast& forecast, base::WallTime now) {
  const model::Pending& pending = *forecast.pending;
  std::string text =
      fmt::format("{} would wait: {}.\n  {}\n", forecast.job->key, pending.reasonText(), pending.message);
  text += forecast.waiting <= 1
              ? fmt::format("  No other job waits in queue {}.\n", model::shownQueue(*forecast.job))
              : fmt::format("  {} of the {} jobs that then wait in queue {} would be served before it.\n",
                            forecast.ahead, forecast.waiting, model::shownQueue(*forecast.job));
  return text + expectationText(forecast.expected, now);
}

std::string forecastText(const Forecast& forecast, base::WallTime now) {
  switch (forecast.outcome) {
    case Outcome::kStarts: return startText(forecast);
    case Outcome::kWaits: return waitText(forecast, now);
    case Outcome::kRefused:
      return fmt::format("{} would not be admitted: {}.\n  {}\n", forecast.job->key,
                         forecast.pending->reasonText(), forecast.pending->message);
    case Outcome::kSuspended:
      return fmt::format("{} would not start: spec.run.suspend is true.\n", forecast.job->key);
    case Outcome::kManagedByOther:
      return fmt::format("{} would be ignored: spec.managedBy is {}.\n", forecast.job->key,
                         forecast.job->spec.managedBy);
  }
  return {};
}

}  // namespace

std::string simulationText(const Simulation& simulation) {
  std::string text;
  for (const Forecast& each : simulation.forecasts) text += forecastText(each, simulation.now) + "\n";
  text += fmt::format("Simulated with the policy of {}. Nothing was written.\n", simulation.policy);
  for (const std::string& note : simulation.notes) text += fmt::format("Note: {}\n", note);
  return text;
}

}  // namespace trainyard::cli
