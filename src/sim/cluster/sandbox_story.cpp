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

void SandboxStory::tell(std::string_view who, std::string_view text, std::string_view colour) {
  const std::string line =
      fmt::format("{:7.1f}s  {:<19} {}", seconds(executor_.now().time_since_epoch()), who, text);
  print_(colours_ && !colour.empty() ? fmt::format("\033[{}m{}\033[0m", colour, line) : line);
}

void SandboxStory::submitted(const model::ObjectKey& key, std::string expected, std::string_view source) {
  const JobPtr job = observer_.cache().jobs.find(key);
  if (!job) return;
  Told& told = jobs_[key];
  told.expected = std::move(expected);
  told.submitted = executor_.now();
  tell(key.name, fmt::format("submitted from {}: {}", source, shapeOf(*job)), "1");
}

bool SandboxStory::settled() const {
  return std::all_of(jobs_.begin(), jobs_.end(), [](const auto& each) {
    const Told& told = each.second;
    const bool staysAsItIs = !told.expected.empty() && !isEnd(told.expected) && told.phase == told.expected;
    return isEnd(told.phase) || staysAsItIs;
  });
}

void SandboxStory::jobChanged(const JobPtr& job) {
  const auto found = jobs_.find(job->key);
  if (found == jobs_.end() || found->second.ended) return;
  Told& told = found->second;
  waits(told, *job);
  if (job->status.phase.empty() || job->status.phase == told.phase) return;
  told.phase = job->status.phase;
  phaseChanged(told, *job);
}

void SandboxStory::waits(Told& told, const model::Job& job) {
  const auto& pending = job.status.pending;
  if (!pending) return;
  const std::string reason(pending->reasonWord());
  told.waitedFor = reason;
  if (told.reason == reason && told.message == pending->message) return;
  if (told.reason == reason && executor_.now() - told.toldWait < kMessageEvery) return;
  told.reason = reason;
  told.message = pending->message;
  told.toldWait = executor_.now();
  tell(job.key.name, fmt::format("waits ({}): {}", reason, pending->message), "33");
}

void SandboxStory::phaseChanged(Told& told, const model::Job& job) {
  std::string text = told.phase;
  std::string_view colour = colourOf(told.phase);
  if (told.phase == "Running") {
    if (!told.running) told.running = executor_.now();
    if (!told.place.empty()) text += " on " + told.place;
  } else if (isEnd(told.phase)) {
    told.ended = executor_.now();
    for (const model::Condition& condition : job.status.conditions) {
      if (condition.type == told.phase && !condition.message.empty()) text += " (" + condition.message + ")";
    }
    if (!told.expected.empty() && told.phase != told.expected) {
      text += fmt::format(", but {} was expected", told.expected);
    } else if (told.phase == "Failed" && told.expected == "Failed") {
      text += ", as it should";
      colour = "32";
    }
  }
  tell(job.key.name, text, colour);
}

void SandboxStory::podChanged(const PodPtr& before, const PodPtr& after) {
  if (!after || !after->member || !after->bound()) return;
  if (before && before->uid == after->uid && before->bound()) return;
  const model::ObjectKey key{after->key.ns, after->member->jobName};
  const auto found = jobs_.find(key);
  const JobPtr job = observer_.cache().jobs.find(key);
  if (found == jobs_.end() || !job) return;
  Told& told = found->second;
  if (told.epoch != after->member->epoch) {
    told.epoch = after->member->epoch;
    told.bound.clear();
    told.nodes.clear();
    told.firstBound = executor_.now();
  }
  told.bound.insert(after->key.name);
  told.nodes.insert(after->node);
  if (told.bound.size() != static_cast<std::size_t>(model::gangMembers(*job))) return;
  told.place = placeOf(told.nodes);
  const std::string together =
      told.bound.size() > 1
          ? fmt::format(", all within {:.2f} s", seconds(executor_.now() - *told.firstBound))
          : "";
  tell(key.name,
       fmt::format("placed: {} on {}{}", plural(static_cast<std::int64_t>(told.bound.size()), "pod"),
                   told.place, together));
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
  for (const auto& [key, told] : jobs_) {
    const bool met = told.expected.empty() || told.phase == told.expected;
    good = good && met;
    const std::string waited =
        told.running ? fmt::format("{:.1f}s", seconds(*told.running - told.submitted)) : "-";
    const std::string ran =
        told.running && told.ended ? fmt::format("{:.1f}s", seconds(*told.ended - *told.running)) : "-";
    const std::string line = fmt::format(
        "{:<20}{:<11}{:<11}{:>9}{:>9}  {}", key.name, told.expected.empty() ? "-" : told.expected,
        told.phase.empty() ? "-" : told.phase, waited, ran, told.place.empty() ? told.waitedFor : told.place);
    print_(colours_ && !met ? fmt::format("\033[31m{}\033[0m", line) : line);
  }
  return good;
}

}  // namespace trainyard::sim
