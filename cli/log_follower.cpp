#include "cli/log_follower.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "cli/command.h"
#include "codec/job.h"
#include "kube/paths.h"
#include "model/names.h"

namespace trainyard::cli {
namespace {

// Other changes, such as a next attempt or a larger gang, take seconds.
constexpr std::chrono::seconds kEndedCheck{2};
constexpr std::size_t kMaxStreams = 256;

// The container is about to start, or the kubelet is unreachable: retry later.
bool comesLater(const base::Error& error) {
  return mayPass(error.code) || error.code == base::ErrorCode::kNotFound ||
         error.message.find("waiting to start") != std::string::npos ||
         error.message.find("is not available") != std::string::npos;
}

}  // namespace

LogFollower::~LogFollower() { client_.stopFollowing(); }

base::Result<void> LogFollower::run() {
  bool over = false;
  for (auto next = std::chrono::steady_clock::now();;) {
    if (const auto now = std::chrono::steady_clock::now(); now >= next) {
      next = now + kEndedCheck;
      const auto ended = look();
      over = ended.value_or(false);
      if (!ended) {
        if (const auto passes = passing(ended.error()); !passes) return passes;
      }
    }
    if (auto taken = take(await()); !taken) return taken;
    if (over && open_.empty()) return {};
  }
}

// Follows the runs that have begun; returns true if the job has ended.
base::Result<bool> LogFollower::look() {
  const auto& key = options_.job;
  const auto body = readJobBody(client_, key);
  if (!body) {
    // The job existed when the command began, so it was deleted since.
    if (body.error().code == base::ErrorCode::kNotFound) return true;
    return base::fail(body.error());
  }
  const auto job = codec::decodeJobOrGang(*body);
  if (!job) return base::fail(job.error());
  const auto sources = logSourcesOf(*job, options_.choice);
  if (!sources) return base::fail(sources.error());
  if (sources->size() > kMaxStreams)
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("{} has {} members; at most {} are followed: choose one by --rank", key,
                                  sources->size(), kMaxStreams));
  const auto pods =
      client_.read(kube::kPods.collection(key.ns),
                   {{"labelSelector", fmt::format("{}={}", model::names::kJobNameLabel, key.name)}});
  if (!pods) return base::fail(pods.error());
  const auto runs = begunRuns(*sources, *pods);
  if (!runs) return base::fail(runs.error());
  for (const LogRun& run : *runs) {
    if (followed_.contains(run) || open_.contains(run.first)) continue;
    const auto source = std::find_if(sources->begin(), sources->end(),
                                     [&](const LogSource& each) { return each.pod == run.first; });
    follow(*source, run);
  }
  return job->finished();
}

void LogFollower::follow(const LogSource& source, const LogRun& run) {
  kube::Query query{{"follow", "true"}};
  if (!options_.container.empty()) query.emplace_back("container", options_.container);
  if (const auto broken = broken_.find(run); broken != broken_.end()) {
    query.emplace_back("sinceTime", base::formatTime(broken->second));
  } else if (options_.tail >= 0 && followed_.empty()) {
    query.emplace_back("tailLines", fmt::to_string(options_.tail));
  }
  followed_.insert(run);
  open_[source.pod] = run;
  client_.follow(
      kube::kPods.object(options_.job.ns, source.pod, "log"), query,
      [this, source](std::string line) { push({source.pod, source.label, std::move(line)}); },
      [this, source](base::Result<void> end) {
        push({source.pod, source.label, std::nullopt, std::move(end)});
      });
}

void LogFollower::push(Event event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  more_.notify_one();
}

std::deque<LogFollower::Event> LogFollower::await() {
  std::unique_lock lock(mutex_);
  more_.wait_for(lock, kEndedCheck, [this] { return !events_.empty(); });
  return std::exchange(events_, {});
}

base::Result<void> LogFollower::take(std::deque<Event> events) {
  for (Event& each : events) {
    if (each.line) {
      print_(each.label + *each.line);
      continue;
    }
    const LogRun run = open_[each.pod];
    open_.erase(each.pod);
    if (each.end) {
      warn_(fmt::format("the log of {} has ended", each.pod));
      continue;
    }
    followed_.erase(run);
    if (!comesLater(each.end.error())) return base::fail(each.end.error());
    broken_[run] = client_.now();
    if (auto passes = passing(each.end.error()); !passes) return passes;
  }
  return {};
}

base::Result<void> LogFollower::passing(const base::Error& error) {
  if (!comesLater(error)) return base::fail(error);
  if (std::exchange(lastError_, error.message) != error.message)
    warn_(fmt::format("{}; trying again", error.message));
  return {};
}

}  // namespace trainyard::cli
