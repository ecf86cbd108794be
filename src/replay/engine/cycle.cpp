#include "replay/engine/cycle.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/cycle/schedule.h"
#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/placement_cache.h"
#include "core/queues/queue_tree.h"
#include "model/conditions.h"
#include "model/names.h"
#include "replay/engine/meter.h"
#include "replay/engine/room.h"

namespace trainyard::replay {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using base::WallTime;
using JobPtr = std::shared_ptr<const model::Job>;

constexpr ReplayTime kNever = ReplayTime::max();
// Room that victims leave may let others in: asked again so often at one moment.
constexpr int kRounds = 10;
constexpr const char* kNamespace = "replay";

double seconds(ReplayTime time) { return std::chrono::duration<double>(time).count(); }

enum class Phase { kComing, kWaiting, kRunning, kEnded };

struct State {
  Phase phase = Phase::kComing;
  ReplayTime remaining{0};
  ReplayTime since{0};
  ReplayTime startup{0};
  bool hasRun = false;
  std::uint32_t run = 0;
};

void setCondition(model::Job& job, std::string_view type, bool holds, WallTime now) {
  auto& all = job.status.conditions;
  std::erase_if(all, [&](const model::Condition& each) { return each.type == type; });
  all.push_back({.type = std::string(type),
                 .status = holds ? model::ConditionStatus::kTrue : model::ConditionStatus::kFalse,
                 .reason = {},
                 .message = {},
                 .lastTransition = now});
}

class Engine {
 public:
  Engine(const Trace& trace, const std::vector<ReplayNode>& cluster,
         const std::optional<model::RelaxationPolicy>& relaxation, const ReplayHooks& hooks)
      : trace_(trace),
        hooks_(hooks),
        relaxes_(relaxation.has_value()),
        snapshot_(snapshotOf(cluster)),
        domains_(snapshot_.nodes, snapshot_.policy.topology),
        meter_(trace, gpusOf(cluster), false),
        states_(trace.jobs.size()) {
    if (relaxation) snapshot_.policy.relaxation = *relaxation;
    for (const ReplayNode& node : cluster) largest_ = std::max(largest_, node.gpus);
    addQueues(gpusOf(cluster));
  }

  ReplayResult run() {
    while (ended_ < states_.size()) {
      now_ = nextEvent();
      snapshot_.now = WallTime(now_);
      meter_.advance(seconds(now_));
      endDue();
      submitDue();
      for (int round = 0; round < kRounds && !waiting_.empty(); ++round) {
        if (!decide()) break;
      }
      if (waiting_.empty()) wakeAt_ = kNever;
    }
    return meter_.finish();
  }

 private:
  struct End {
    ReplayTime at{0};
    std::size_t job = 0;
    std::uint32_t run = 0;
    bool operator>(const End& other) const { return std::tie(at, job) > std::tie(other.at, other.job); }
  };

  static std::int64_t gpusOf(const std::vector<ReplayNode>& cluster) {
    std::int64_t gpus = 0;
    for (const ReplayNode& node : cluster) gpus += node.gpus;
    return gpus;
  }

  static model::Snapshot snapshotOf(const std::vector<ReplayNode>& cluster) {
    model::Snapshot snapshot = replaySnapshot(cluster);
    snapshot.policy.topology = {{"node", std::string(model::names::kHostnameLabel)}};
    snapshot.policy.ordering = model::Ordering::kFifo;
    // Traces do not tell whose jobs had checkpoints to go on from elsewhere.
    snapshot.policy.defragmentation.enabled = false;
    return snapshot;
  }

  void addQueues(std::int64_t capacity) {
    std::vector<double> work(trace_.queues.size());
    for (std::size_t i = 0; i < trace_.jobs.size(); ++i)
      work[trace_.jobs[i].queue] += seconds(trace_.work[i].duration) * trace_.jobs[i].gpus;
    double all = 0;
    for (const double each : work) all += each;
    constexpr double kWeights = 1'000;
    for (std::size_t i = 0; i < trace_.queues.size(); ++i) {
      const double part = all > 0 ? work[i] / all : 1.0 / static_cast<double>(trace_.queues.size());
      auto queue = std::make_shared<model::Queue>();
      queue->name = model::QueueName(trace_.queues[i]);
      queue->uid = model::Uid(trace_.queues[i]);
      queue->weight = std::max<std::int64_t>(std::llround(part * kWeights), 1);
      queue->guaranteed.set(model::names::kGpuResource,
                            static_cast<std::int64_t>(part * static_cast<double>(capacity)));
      snapshot_.queues.push_back(std::move(queue));
    }
  }

  ReplayTime nextEvent() {
    while (!ends_.empty() && (states_[ends_.top().job].run != ends_.top().run ||
                              states_[ends_.top().job].phase != Phase::kRunning)) {
      ends_.pop();
    }
    ReplayTime next = ends_.empty() ? kNever : ends_.top().at;
    if (next_ < states_.size()) next = std::min(next, trace_.jobs[next_].submitted);
    if (wakeAt_ > now_) next = std::min(next, wakeAt_);
    return next;
  }

  void endDue() {
    while (!ends_.empty() && ends_.top().at <= now_) {
      const End end = ends_.top();
      ends_.pop();
      State& state = states_[end.job];
      if (state.run != end.run || state.phase != Phase::kRunning) continue;
      meter_.progressed(seconds(state.remaining) * trace_.jobs[end.job].gpus);
      state.phase = Phase::kEnded;
      auto& jobs = snapshot_.jobs.edit();
      jobs.erase(find(jobs, end.job));
      meter_.ended(end.job);
      hooks_.progress(++ended_, states_.size());
    }
  }

  void submitDue() {
    for (; next_ < states_.size() && trace_.jobs[next_].submitted <= now_; ++next_) {
      states_[next_].phase = Phase::kWaiting;
      states_[next_].remaining = trace_.work[next_].duration;
      snapshot_.jobs.push_back(jobOf(next_));
      waiting_.insert(next_);
      meter_.submitted(next_);
    }
  }

  // Named by its number: so jobs sort in the order of submission.
  [[nodiscard]] JobPtr jobOf(std::size_t index) const {
    const TraceJob& facts = trace_.jobs[index];
    const bool small = facts.gpus <= largest_;
    const GangShape shape = small ? GangShape{facts.gpus, 1} : tightShape(facts.gpus, largest_);
    auto job = std::make_shared<model::Job>();
    job->key = {kNamespace, fmt::format("{:09}", index)};
    job->uid = model::Uid(job->key.name);
    job->created = WallTime(facts.submitted);
    job->spec.queue = model::QueueName(trace_.queues[facts.queue]);
    job->spec.preemptible = true;
    model::Role role{.name = "worker", .replicas = shape.members, .shape = {}, .templateJson = {}};
    role.shape.requests.pods = 1;
    role.shape.requests.setExtended(model::names::kGpuResource, shape.gpusEach);
    job->spec.roles.push_back(std::move(role));
    if (small && facts.gpus > 1) {
      if (relaxes_) {
        job->spec.locality.levels = {{"node"}};
      } else {
        job->spec.locality.required = "node";
      }
    }
    job->spec.templateHash = fmt::format("{}x{}", shape.members, shape.gpusEach);
    job->status.gpus = facts.gpus;
    setCondition(*job, model::conditions::kQueued, true, WallTime(now_));
    return job;
  }

  static std::size_t indexOf(const model::Job& job) {
    return static_cast<std::size_t>(std::stoul(job.key.name));
  }

  [[nodiscard]] model::SharedList<model::Job>::Items::iterator find(
      model::SharedList<model::Job>::Items& jobs, std::size_t index) const {
    return std::lower_bound(jobs.begin(), jobs.end(), index,
                            [](const JobPtr& job, std::size_t wanted) { return indexOf(*job) < wanted; });
  }

  // Whether others might be let in now.
  bool decide() {
    ledger_.follow(snapshot_);
    core::QueueTree queues(snapshot_, queueCache_);
    std::vector<core::WaitingJob> asking;
    asking.reserve(waiting_.size());
    auto& jobs = snapshot_.jobs.items();
    for (const JobPtr& job : jobs) {
      if (!job->status.gang.placed) asking.push_back({job});
    }
    const core::Schedule schedule =
        core::schedule({.snapshot = snapshot_,
                        .ledger = ledger_,
                        .domains = domains_,
                        .queues = queues,
                        .cache = cache_,
                        .waiting = std::move(asking),
                        .startingMembers = 0,
                        .mostStartingMembers = std::numeric_limits<std::int64_t>::max()});
    wakeAt_ = schedule.wakeAt ? schedule.wakeAt->time_since_epoch() : kNever;
    bool stopped = false;
    for (const core::GangStart& start : schedule.starts) {
      for (const JobPtr& victim : start.victims) {
        stop(indexOf(*victim));
        stopped = true;
      }
      this->start(indexOf(*start.job), start.placement);
    }
    return stopped;
  }

  void replace(std::size_t index, const std::function<void(model::Job&)>& change) {
    auto& jobs = snapshot_.jobs.edit();
    const auto at = find(jobs, index);
    auto job = std::make_shared<model::Job>(**at);
    change(*job);
    *at = std::move(job);
  }

  void stop(std::size_t index) {
    State& state = states_[index];
    const ReplayTime worked = std::clamp(now_ - state.since - state.startup, ReplayTime{0}, state.remaining);
    meter_.progressed(seconds(worked) * trace_.jobs[index].gpus);
    state.remaining -= worked;
    state.phase = Phase::kWaiting;
    waiting_.insert(index);
    replace(index, [&](model::Job& job) {
      job.status.gang.placed.reset();
      setCondition(job, model::conditions::kScheduled, false, WallTime(now_));
      setCondition(job, model::conditions::kQueued, true, WallTime(now_));
    });
    meter_.stopped(index);
    hooks_.decided({now_, ReplayDecision::Kind::kStop, index});
  }

  void start(std::size_t index, const core::Placement& placement) {
    State& state = states_[index];
    const TraceWork& work = trace_.work[index];
    state.phase = Phase::kRunning;
    state.startup = state.hasRun ? work.resume : work.startup;
    state.hasRun = true;
    state.since = now_;
    ++state.run;
    ends_.push({now_ + state.startup + state.remaining, index, state.run});
    waiting_.erase(index);
    replace(index, [&](model::Job& job) {
      job.status.gang.placed = model::Placed{.epoch = 1, .assignments = placement.assignments};
      setCondition(job, model::conditions::kScheduled, true, WallTime(now_));
      setCondition(job, model::conditions::kQueued, false, WallTime(now_));
    });
    meter_.started(index);
    hooks_.decided({now_, ReplayDecision::Kind::kStart, index});
  }

  const Trace& trace_;
  const ReplayHooks& hooks_;
  const bool relaxes_;
  model::Snapshot snapshot_;
  core::Domains domains_;
  core::Ledger ledger_;
  core::PlacementCache cache_;
  core::QueueCache queueCache_;
  ReplayMeter meter_;
  std::vector<State> states_;
  int largest_ = 0;
  ReplayTime now_{0};
  ReplayTime wakeAt_ = kNever;
  std::size_t next_ = 0;
  std::size_t ended_ = 0;
  std::set<std::size_t> waiting_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace

Result<ReplayResult> runCycles(const Trace& trace, const std::vector<ReplayNode>& cluster,
                               const std::optional<model::RelaxationPolicy>& relaxation,
                               const ReplayHooks& hooks) {
  ReplayRoom room(cluster);
  for (const TraceJob& job : trace.jobs) {
    if (job.gpus > room.capacity() || !room.everFits(tightShape(job.gpus, room.gpusOfLargestNode()))) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("job {} wants {} GPUs: more than the whole cluster of {} has", job.name,
                              job.gpus, room.capacity()));
    }
  }
  return Engine(trace, cluster, relaxation, hooks).run();
}

}  // namespace trainyard::replay
