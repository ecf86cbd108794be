#include "sim/cluster/sandbox_story.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/gang_size.h"

namespace trainyard::sim {
namespace {

constexpr const char* kRackLabel = "cloud.provider.com/topology-rack";
// A pending job's message changes with every change of the cluster; this is the interval of its lines.
constexpr base::Instant::duration kMessageEvery = std::chrono::seconds(3);

bool isEnd(std::string_view phase) { return phase == "Succeeded" || phase == "Failed"; }

std::string_view colourOf(std::string_view phase) {
  if (phase == "Running") return "36";
  if (phase == "Succeeded") return "32";
  if (phase == "Failed") return "31";
  if (phase == "Queued" || phase == "Pending") return "33";
  return "";
}

std::string plural(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Formats "4 worker x 8 GPUs, 2 ps".
std::string shapeOf(const model::Job& job) {
  std::string text;
  for (const model::Role& role : job.spec.roles) {
    const std::int64_t gpus = role.shape.requests.gpus();
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", model::gangMembers(job, role), role.name,
                        gpus > 0 ? " x " + plural(gpus, "GPU") : "");
  }
  return text;
}

}  // namespace

SandboxStory::SandboxStory(ClusterObserver& observer, base::Executor& executor, Print print, bool colours)
    : observer_(observer), executor_(executor), print_(std::move(print)), colours_(colours) {
  observer_.cache().jobs.onChange([this](const JobPtr&, const JobPtr& after) {
    if (after) jobChanged(after);
  });
  observer_.cache().pods.onChange(
      [this](const PodPtr& before, const PodPtr& after) { podChanged(before, after); });
}

double SandboxStory::seconds(base::Instant::duration span) { return static_cast<double>(span.count()) / 1e6; }

void SandboxStory::printLine(std::string_view subject, std::string_view text, std::string_view colour) {
  const std::string line =
      fmt::format("{:7.1f}s  {:<19} {}", seconds(executor_.now().time_since_epoch()), subject, text);
  print_(colours_ && !colour.empty() ? fmt::format("\033[{}m{}\033[0m", colour, line) : line);
}

void SandboxStory::submitted(const model::ObjectKey& key, std::string expected, std::string_view source) {
  const JobPtr job = observer_.cache().jobs.find(key);
  if (!job) return;
  PrintedJob& printed = jobs_[key];
  printed.expected = std::move(expected);
  printed.submitted = executor_.now();
  printLine(key.name, fmt::format("submitted from {}: {}", source, shapeOf(*job)), "1");
}

bool SandboxStory::settled() const {
  return std::all_of(jobs_.begin(), jobs_.end(), [](const auto& each) {
    const PrintedJob& printed = each.second;
    const bool staysAsItIs =
        !printed.expected.empty() && !isEnd(printed.expected) && printed.phase == printed.expected;
    return isEnd(printed.phase) || staysAsItIs;
  });
}

void SandboxStory::jobChanged(const JobPtr& job) {
  const auto found = jobs_.find(job->key);
  if (found == jobs_.end() || found->second.ended) return;
  PrintedJob& printed = found->second;
  waits(printed, *job);
  if (job->status.phase.empty() || job->status.phase == printed.phase) return;
  printed.phase = job->status.phase;
  phaseChanged(printed, *job);
}

void SandboxStory::waits(PrintedJob& printed, const model::Job& job) {
  const auto& pending = job.status.pending;
  if (!pending) return;
  const std::string reason(pending->reasonText());
  printed.waitedFor = reason;
  if (printed.reason == reason && printed.message == pending->message) return;
  if (printed.reason == reason && executor_.now() - printed.printedWait < kMessageEvery) return;
  printed.reason = reason;
  printed.message = pending->message;
  printed.printedWait = executor_.now();
  printLine(job.key.name, fmt::format("waits ({}): {}", reason, pending->message), "33");
}

void SandboxStory::phaseChanged(PrintedJob& printed, const model::Job& job) {
  std::string text = printed.phase;
  std::string_view colour = colourOf(printed.phase);
  if (printed.phase == "Running") {
    if (!printed.running) printed.running = executor_.now();
    if (!printed.place.empty()) text += " on " + printed.place;
  } else if (isEnd(printed.phase)) {
    printed.ended = executor_.now();
    for (const model::Condition& condition : job.status.conditions) {
      if (condition.type == printed.phase && !condition.message.empty())
        text += " (" + condition.message + ")";
    }
    if (!printed.expected.empty() && printed.phase != printed.expected) {
      text += fmt::format(", but {} was expected", printed.expected);
    } else if (printed.phase == "Failed" && printed.expected == "Failed") {
      text += ", as it should";
      colour = "32";
    }
  }
  printLine(job.key.name, text, colour);
}

void SandboxStory::podChanged(const PodPtr& before, const PodPtr& after) {
  if (!after || !after->member || !after->bound()) return;
  if (before && before->uid == after->uid && before->bound()) return;
  const model::ObjectKey key{after->key.ns, after->member->jobName};
  const auto found = jobs_.find(key);
  const JobPtr job = observer_.cache().jobs.find(key);
  if (found == jobs_.end() || !job) return;
  PrintedJob& printed = found->second;
  if (printed.epoch != after->member->epoch) {
    printed.epoch = after->member->epoch;
    printed.bound.clear();
    printed.nodes.clear();
    printed.firstBound = executor_.now();
  }
  printed.bound.insert(after->key.name);
  printed.nodes.insert(after->node);
  if (printed.bound.size() != static_cast<std::size_t>(model::gangMembers(*job))) return;
  printed.place = placeOf(printed.nodes);
  const std::string together =
      printed.bound.size() > 1
          ? fmt::format(", all within {:.2f} s", seconds(executor_.now() - *printed.firstBound))
          : "";
  printLine(key.name,
            fmt::format("placed: {} on {}{}", plural(static_cast<std::int64_t>(printed.bound.size()), "pod"),
                        printed.place, together));
}

std::string SandboxStory::placeOf(const std::set<model::NodeName>& nodes) const {
  std::set<std::string> racks;
  for (const model::NodeName& name : nodes) {
    const auto node = observer_.cache().nodes.find(name);
    const std::string* rack = node ? node->labels.find(kRackLabel) : nullptr;
    racks.insert(rack != nullptr ? *rack : "?");
  }
  const std::string where =
      racks.size() == 1 ? "rack " + *racks.begin() : plural(static_cast<std::int64_t>(racks.size()), "rack");
  if (nodes.size() == 1) return fmt::format("node {} in {}", *nodes.begin(), where);
  return fmt::format("{} nodes in {}", nodes.size(), where);
}

bool SandboxStory::summary() {
  print_("");
  print_(fmt::format("{:<20}{:<11}{:<11}{:>9}{:>9}  {}", "JOB", "SHOULD BE", "IS", "WAITED", "RAN", "PLACE"));
  bool good = true;
  for (const auto& [key, printed] : jobs_) {
    const bool met = printed.expected.empty() || printed.phase == printed.expected;
    good = good && met;
    const std::string waited =
        printed.running ? fmt::format("{:.1f}s", seconds(*printed.running - printed.submitted)) : "-";
    const std::string ran = printed.running && printed.ended
                                ? fmt::format("{:.1f}s", seconds(*printed.ended - *printed.running))
                                : "-";
    const std::string line = fmt::format("{:<20}{:<11}{:<11}{:>9}{:>9}  {}", key.name,
                                         printed.expected.empty() ? "-" : printed.expected,
                                         printed.phase.empty() ? "-" : printed.phase, waited, ran,
                                         printed.place.empty() ? printed.waitedFor : printed.place);
    print_(colours_ && !met ? fmt::format("\033[31m{}\033[0m", line) : line);
  }
  return good;
}

}  // namespace trainyard::sim
