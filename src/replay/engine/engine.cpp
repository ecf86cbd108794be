#include "replay/engine/engine.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/forecast/instant_cycle.h"
#include "core/order/preemption_cost.h"
#include "core/order/run_times.h"
#include "model/names.h"
#include "replay/engine/cluster.h"
#include "replay/engine/meter.h"

namespace trainyard::replay {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using base::WallTime;

constexpr ReplayTime kNever = ReplayTime::max();
// Capacity that victims leave may fit other jobs, so the decision is repeated up to this often.
constexpr int kRounds = 10;
constexpr const char* kOnlyQueue = "all";
// The first submission in calendar time: times that were never written are in the year 1970.
constexpr std::chrono::hours kOrigin{24 * 365 * 40};

double seconds(ReplayTime time) { return std::chrono::duration<double>(time).count(); }
WallTime calendar(ReplayTime time) { return WallTime(kOrigin + time); }

enum class Phase { kComing, kWaiting, kRunning, kEnded };

// What the replay keeps about a job besides its trace.
struct State {
  model::ObjectKey key;
  Phase phase = Phase::kComing;
  ReplayTime remaining{0};  // work, without start-up, when it last started or stopped
  ReplayTime since{0};      // of its placement
  ReplayTime startup{0};    // of the present run
  bool resumes = false;     // from a checkpoint, once it starts again
  std::uint32_t run = 0;    // counts starts, moves and resizes
  double speed = 1;         // of the present run, of that of the trace's duration
  int gpus = 0;             // of the present run
  int members = 0;          // of the present run
  // The bounds of an elastic job.
  std::optional<ReplayElastic::Range> range = std::nullopt;
};

class Engine {
 public:
  Engine(const Trace& trace, const std::vector<ReplayNode>& cluster, const ReplaySetup& setup,
         const ReplayHooks& hooks)
      : trace_(trace),
        setup_(setup),
        hooks_(hooks),
        cycle_(worldOf(trace, cluster, setup)),
        meter_(trace, gpusOf(cluster), !setup.policy.backfill.enabled),
        states_(trace.jobs.size()),
        largest_(gpusOfLargest(cluster)),
        learnt_(std::make_shared<model::RunTimes>()) {
    cycle_.world().runTimes = learnt_;
    for (std::size_t i = 0; setup.elastic && i < states_.size(); ++i)
      states_[i].range = setup.elastic->range(i);
  }

  Result<ReplayResult> run() {
    while (ended_ < states_.size()) {
      const ReplayTime next = nextEvent();
      if (next == kNever) return fail(ErrorCode::kInternal, stuck());
      now_ = next;
      cycle_.setTime(calendar(now_));
      meter_.advance(seconds(now_));
      endDue();
      submitDue();
      wakeAt_ = kNever;
      for (int round = 0; round < kRounds && (waiting_ > 0 || setup_.elastic); ++round) {
        if (!decide()) break;
      }
    }
    ReplayResult result = meter_.finish();
    // At another size a job may be faster than in the trace, or need less of the cluster's time.
    if (setup_.elastic) result.fluidLowerBoundSeconds = 0;
    return result;
  }

 private:
  struct End {
    ReplayTime at{0};
    std::size_t job = 0;
    std::uint32_t run = 0;
    bool operator>(const End& other) const { return std::tie(at, job) > std::tie(other.at, other.job); }
  };

  static model::Snapshot worldOf(const Trace& trace, const std::vector<ReplayNode>& cluster,
                                 const ReplaySetup& setup);

  [[nodiscard]] std::string stuck() const {
    return fmt::format("{} jobs wait for what never comes", waiting_);
  }

  [[nodiscard]] bool runs(const End& end) const {
    return states_[end.job].run == end.run && states_[end.job].phase == Phase::kRunning;
  }

  ReplayTime nextEvent() {
    // Preempted or moved jobs left outdated ends behind.
    while (!ends_.empty() && !runs(ends_.top())) ends_.pop();
    ReplayTime next = ends_.empty() ? kNever : ends_.top().at;
    if (next_ < states_.size()) next = std::min(next, trace_.jobs[next_].submitted);
    return std::min(next, wakeAt_);
  }

  void endDue() {
    while (!ends_.empty() && ends_.top().at <= now_) {
      const End end = ends_.top();
      ends_.pop();
      if (!runs(end)) continue;
      State& state = states_[end.job];
      meter_.progressed(seconds(scaled(state.remaining, 1 / state.speed)) * state.gpus);
      state.phase = Phase::kEnded;
      (void)core::learn(*learnt_, model::SharedList<model::Job>({cycle_.end(state.key)}));
      meter_.ended(end.job);
      hooks_.held({.at = now_, .job = end.job, .ended = true});
      hooks_.progress(++ended_, states_.size());
    }
  }

  void submitDue() {
    for (; next_ < states_.size() && trace_.jobs[next_].submitted <= now_; ++next_) {
      states_[next_].phase = Phase::kWaiting;
      states_[next_].remaining = trace_.work[next_].duration;
      model::Job job = jobOf(next_);
      states_[next_].key = job.key;
      cycle_.add(std::move(job));
      ++waiting_;
      meter_.submitted(next_);
    }
  }

  [[nodiscard]] model::Job jobOf(std::size_t index) const;

  // Returns true if the job prefers one node, and relaxes that in the end.
  [[nodiscard]] bool relaxes(std::size_t job) const {
    const int gpus = trace_.jobs[job].gpus;
    return setup_.relaxes && gpus > 1 && gpus <= largest_;
  }

  // The shape that its user requests.
  [[nodiscard]] GangShape shapeOf(std::size_t job) const {
    const auto& range = states_[job].range;
    if (range) return {range->desired, static_cast<int>(range->member.gpus())};
    const int gpus = trace_.jobs[job].gpus;
    return relaxes(job) ? GangShape{gpus, 1} : tightShape(gpus, largest_);
  }

  static ReplayTime scaled(ReplayTime time, double by) {
    return by == 1 ? time : ReplayTime(std::llround(static_cast<double>(time.count()) * by));
  }

  // Returns true if another decision may start further jobs now.
  bool decide() {
    const auto outcome = cycle_.decide([this](const core::QueueTree&) {
      std::vector<core::SchedulableJob> asking;
      asking.reserve(waiting_);
      for (const auto& job : cycle_.snapshot().jobs) {
        if (!job->status.gang.placed) asking.push_back({job});
      }
      return asking;
    });
    for (const core::Change& change : outcome.changes) carryOut(change);
    wakeAt_ = kNever;
    if (outcome.wakeAt) wakeAt_ = outcome.wakeAt->time_since_epoch() - kOrigin;
    if (wakeAt_ <= now_) wakeAt_ = kNever;
    // The cycle's own changes are changes for the operator too; a resized job is considered again later.
    return outcome.stopped || (setup_.elastic && !outcome.changes.empty());
  }

  void carryOut(const core::Change& change) {
    const std::size_t job = indexOf(*change.job);
    switch (change.kind) {
      case core::ChangeKind::kStart:
        start(job);
        --waiting_;
        meter_.started(job, states_[job].gpus);
        hooks_.decided({now_, ReplayDecision::Kind::kStart, job});
        break;
      case core::ChangeKind::kPreempt:
        stop(job);
        states_[job].phase = Phase::kWaiting;
        ++waiting_;
        meter_.stopped(job);
        hooks_.decided({now_, ReplayDecision::Kind::kPreempt, job});
        hooks_.held({.at = now_, .job = job});
        break;
      case core::ChangeKind::kMove:
        stop(job);
        start(job);
        meter_.moved();
        hooks_.decided({now_, ReplayDecision::Kind::kMove, job});
        break;
      case core::ChangeKind::kGrow:
      case core::ChangeKind::kShrink:
        stop(job);
        start(job);
        meter_.resized(job, states_[job].gpus);
        hooks_.decided({now_, ReplayDecision::Kind::kResize, job});
        break;
    }
  }

  // Jobs are named by queue and number, so that jobs of a queue are one kind for learning.
  static std::size_t indexOf(const model::Job& job) {
    return static_cast<std::size_t>(std::stoul(job.key.name.substr(job.key.name.rfind('-') + 1)));
  }

  void start(std::size_t job) {
    State& state = states_[job];
    state.phase = Phase::kRunning;
    state.startup = state.resumes ? restartOf(job) : trace_.work[job].startup;
    state.since = now_;
    state.gpus = trace_.jobs[job].gpus;
    state.members = shapeOf(job).members;
    if (state.range) readSize(job);
    ++state.run;
    ends_.push({now_ + state.startup + scaled(state.remaining, 1 / state.speed), job, state.run});
    hooks_.held({.at = now_, .job = job, .members = state.members, .pause = state.startup});
  }

  // Reads the size from the job's record; the job then reports its speed at that size.
  void readSize(std::size_t job) {
    State& state = states_[job];
    std::map<model::NodeName, int> nodes;
    const auto& jobs = cycle_.snapshot().jobs;
    state.members = 0;
    for (const model::Assignment& place : jobs.find(state.key)->status.gang.placed->assignments) {
      const int count = static_cast<int>(place.indices.size());
      nodes[place.node] += count;
      state.members += count;
    }
    state.gpus = state.members * static_cast<int>(state.range->member.gpus());
    std::vector<int> membersByNode;
    for (const auto& [node, members] : nodes) membersByNode.push_back(members);
    state.speed = setup_.elastic->speed(job, membersByNode);
    if (!setup_.elastic->reports) return;
    constexpr double kSamples = 1e6;  // milli-samples a second, of whatever a sample is
    const model::SpeedPoint point{state.members, std::llround(state.speed * kSamples)};
    cycle_.change(state.key, [&](model::Job& told) {
      auto& speeds = told.status.resize.speeds;
      std::erase_if(speeds, [&](const model::SpeedPoint& each) { return each.replicas == point.replicas; });
      speeds.insert(speeds.begin(), point);
    });
  }

  // Accounts for the work of the present run, and for the part that a preemption loses.
  void stop(std::size_t job) {
    State& state = states_[job];
    const auto work = [&](ReplayTime ran) {
      return std::clamp(scaled(ran - state.startup, state.speed), ReplayTime{0}, state.remaining);
    };
    const auto declared = checkpointOf(job);
    const ReplayTime ran = now_ - state.since;
    const ReplayTime kept = work(ran - core::lostAfter(declared, ran));
    const double gpus = state.gpus / state.speed;
    meter_.progressed(seconds(kept) * gpus);
    meter_.lost(seconds(work(ran) - kept) * gpus);
    state.remaining -= kept;
    state.resumes = declared.has_value();
    if (setup_.knowsDurations) setEstimate(job);
  }

  // Updates the declared duration to the remaining work, including lost work.
  void setEstimate(std::size_t job) {
    cycle_.change(states_[job].key, [&](model::Job& told) {
      const ReplayTime left = states_[job].remaining + restartOf(job);
      told.spec.estimatedDuration =
          core::ranSoFar(told, cycle_.snapshot().now) + std::chrono::ceil<std::chrono::seconds>(left);
    });
  }

  [[nodiscard]] ReplayTime restartOf(std::size_t job) const {
    return setup_.checkpoint.restart ? ReplayTime(*setup_.checkpoint.restart) : trace_.work[job].resume;
  }

  [[nodiscard]] std::optional<model::Checkpoint> checkpointOf(std::size_t job) const {
    if (states_[job].range) {
      return model::Checkpoint{.mode = model::CheckpointMode::kSignal,
                               .restart = std::chrono::ceil<std::chrono::seconds>(restartOf(job))};
    }
    if (!setup_.checkpoint.declares(job)) return std::nullopt;
    return model::Checkpoint{
        .mode = setup_.checkpoint.every ? model::CheckpointMode::kNone : model::CheckpointMode::kSignal,
        .every = setup_.checkpoint.every,
        .restart = std::chrono::ceil<std::chrono::seconds>(restartOf(job))};
  }

  const Trace& trace_;
  const ReplaySetup& setup_;
  const ReplayHooks& hooks_;
  core::InstantCycle cycle_;
  ReplayMeter meter_;
  std::vector<State> states_;
  const int largest_;
  std::shared_ptr<model::RunTimes> learnt_;
  ReplayTime now_{0};
  ReplayTime wakeAt_ = kNever;
  std::size_t next_ = 0;  // to be submitted
  std::size_t ended_ = 0;
  std::size_t waiting_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

model::Snapshot Engine::worldOf(const Trace& trace, const std::vector<ReplayNode>& cluster,
                                const ReplaySetup& setup) {
  model::Snapshot world = replaySnapshot(cluster);
  world.policy = setup.policy;
  world.policy.topology = {{"node", std::string(model::names::kHostnameLabel)}};
  const auto add = [&](const std::string& name, std::int64_t weight, std::int64_t guaranteed) {
    auto queue = std::make_shared<model::Queue>();
    queue->name = model::QueueName(name);
    queue->uid = model::Uid(name);
    queue->weight = weight;
    // In strict order no job is preempted, so no queue lends capacity.
    if (setup.policy.backfill.enabled && guaranteed > 0)
      queue->guaranteed.set(model::names::kGpuResource, guaranteed);
    queue->reclaim = setup.policy.backfill.enabled;
    world.queues.push_back(std::move(queue));
  };
  if (setup.oneQueue || trace.queues.size() < 2) {
    add(kOnlyQueue, 1, 0);
    return world;
  }
  constexpr double kWeights = 1'000;
  const auto capacity = static_cast<double>(gpusOf(cluster));
  const std::vector<double> parts = queueParts(trace);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    add(trace.queues[i], std::max<std::int64_t>(std::llround(parts[i] * kWeights), 1),
        static_cast<std::int64_t>(parts[i] * capacity));
  }
  return world;
}

model::Job Engine::jobOf(std::size_t index) const {
  const TraceJob& facts = trace_.jobs[index];
  const auto& range = states_[index].range;
  const GangShape shape = shapeOf(index);
  const bool one = setup_.oneQueue || trace_.queues.size() < 2;
  model::Job job;
  job.key = {"replay", fmt::format("{}-{:09}", trace_.queues[facts.queue], index)};
  job.uid = model::Uid(job.key.name);
  job.created = calendar(facts.submitted);
  job.spec.queue = model::QueueName(one ? kOnlyQueue : trace_.queues[facts.queue]);
  job.spec.preemptible = true;
  job.spec.checkpoint = checkpointOf(index);
  if (setup_.knowsDurations) {
    const TraceWork& work = trace_.work[index];
    job.spec.estimatedDuration = std::chrono::ceil<std::chrono::seconds>(work.startup + work.duration);
  }
  model::Role role{.name = "worker", .replicas = shape.members, .shape = {}, .templateJson = {}};
  if (range) {
    role.shape.requests = range->member;
    job.spec.elastic = model::Elastic{.role = "worker",
                                      .replicas = range->desired,
                                      .minReplicas = range->minimum,
                                      .maxReplicas = range->most};
  }
  role.shape.requests.pods = 1;
  if (!range) role.shape.requests.setExtended(model::names::kGpuResource, shape.gpusEach);
  const model::Resources& each = role.shape.requests;
  job.spec.templateHash =
      fmt::format("{}x{}-{}-{}", shape.members, each.gpus(), each.cpu.value, each.memory.value);
  job.spec.roles.push_back(std::move(role));
  if (relaxes(index)) job.spec.locality.levels = {{"node"}};
  job.status.gpus = facts.gpus;
  return job;
}

Result<void> checkFit(const Trace& trace, const std::vector<ReplayNode>& cluster, const ReplaySetup& setup) {
  if (!setup.elastic) return checkAllFit(trace, cluster);
  Trace rigid;
  const model::Snapshot snapshot = replaySnapshot(cluster);
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const auto range = setup.elastic->range(i);
    if (!range) {
      rigid.jobs.push_back(trace.jobs[i]);
      continue;
    }
    std::int64_t available = 0;
    for (const auto& node : snapshot.nodes)
      available += node->allocatable.timesCovered(range->member, range->minimum);
    if (available >= range->minimum) continue;
    return fail(ErrorCode::kInvalid,
                fmt::format("job {} wants {} members at least: the whole cluster can hold {}",
                            trace.jobs[i].name, range->minimum, available));
  }
  return checkAllFit(rigid, cluster);
}

}  // namespace

Result<ReplayResult> runEngine(const Trace& trace, const std::vector<ReplayNode>& cluster,
                               const ReplaySetup& setup, const ReplayHooks& hooks) {
  if (auto good = checkFit(trace, cluster, setup); !good) return fail(good.error());
  return Engine(trace, cluster, setup, hooks).run();
}

}  // namespace trainyard::replay
