#include "replay/engine/slices.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "core/order/run_history.h"
#include "core/order/time_slice.h"
#include "replay/engine/meter.h"
#include "replay/engine/room.h"

namespace trainyard::replay {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr ReplayTime kNever = ReplayTime::max();
// Laying out so many anew for each that waits would take longer than it gains.
constexpr std::size_t kMostMovable = 256;

double seconds(ReplayTime time) { return std::chrono::duration<double>(time).count(); }

enum class Phase { kComing, kWaiting, kRunning, kEnded };

// What the replay knows of a job besides its trace.
struct State {
  model::ObjectKey key;
  core::RunHistory::Id history;
  Phase phase = Phase::kComing;
  GangShape shape;  // tight, until it is placed otherwise
  ReplayPlaces places = {};
  ReplayTime remaining{0};  // work, without start-up, when it last started or stopped
  ReplayTime ran{0};        // before it last started
  ReplayTime since{0};      // started, or began to wait
  ReplayTime startup{0};    // of the present run
  bool hasRun = false;
  std::uint32_t run = 0;  // counts starts and moves
};

class Engine final : private core::SliceRoom {
 public:
  Engine(const Trace& trace, const std::vector<ReplayNode>& cluster, const ReplayRules& rules,
         const ReplayHooks& hooks)
      : trace_(trace),
        rules_(rules),
        hooks_(hooks),
        room_(cluster),
        meter_(trace, room_.capacity(), !rules.preempts),
        states_(trace.jobs.size()),
        inTurn_(trace.queues.size()) {}

  Result<ReplayResult> run();

 private:
  struct End {
    ReplayTime at{0};
    std::size_t job = 0;
    std::uint32_t run = 0;
    bool operator>(const End& other) const { return std::tie(at, job) > std::tie(other.at, other.job); }
  };

  Result<void> prepare();
  [[nodiscard]] ReplayTime nextEvent();
  void endDue();
  void submitDue();
  void decide();

  void serveInTurn();
  void serveBest();
  [[nodiscard]] core::OrderView viewOf(std::size_t job);
  [[nodiscard]] ReplayTime nextDemotion() const;

  bool keep(std::size_t candidate) override;
  bool placeFree(std::size_t candidate) override;
  bool placeOver(std::size_t candidate) override;
  std::optional<std::vector<std::size_t>> placeMoving(std::size_t candidate,
                                                      const std::vector<std::size_t>& given) override;

  [[nodiscard]] bool isRelaxed(std::size_t job) const;
  [[nodiscard]] ReplayTime relaxesAt(std::size_t job) const;
  bool settle(std::size_t job, GangShape shape, std::optional<ReplayPlaces> places);
  void start(std::size_t job);
  void startClock(std::size_t job);
  void pause(std::size_t job);
  [[nodiscard]] ReplayTime ranSoFar(std::size_t job) const;
  [[nodiscard]] ReplayTime worked(std::size_t job) const;

  const Trace& trace_;
  const ReplayRules& rules_;
  const ReplayHooks& hooks_;
  ReplayRoom room_;
  ReplayMeter meter_;
  core::RunHistory history_;
  std::vector<State> states_;
  ReplayTime now_{0};
  std::size_t next_ = 0;  // to be submitted
  std::size_t ended_ = 0;
  ReplayTime nextSlice_{0};
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::set<std::pair<ReplayTime, std::size_t>> relaxations_;
  std::vector<std::deque<std::size_t>> inTurn_;  // by queue, when nothing is stopped
  std::set<std::size_t> live_;                   // waiting or running
  std::size_t waiting_ = 0;
  std::vector<std::size_t> candidates_;  // of the present slice
};

Result<void> Engine::prepare() {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const TraceJob& job = trace_.jobs[i];
    State& state = states_[i];
    state.key = {trace_.queues[job.queue], job.name};
    state.shape = tightShape(job.gpus, room_.gpusOfLargestNode());
    state.remaining = trace_.work[i].duration;
    if (job.gpus > room_.capacity() || !room_.everFits(state.shape)) {
      return fail(
          ErrorCode::kInvalid,
          fmt::format("job {} wants {} GPUs as {} times {}: more than the whole cluster of {} has", job.name,
                      job.gpus, state.shape.members, state.shape.gpusEach, room_.capacity()));
    }
  }
  return {};
}

Result<ReplayResult> Engine::run() {
  if (auto good = prepare(); !good) return fail(good.error());
  while (ended_ < states_.size()) {
    now_ = nextEvent();
    meter_.advance(seconds(now_));
    endDue();
    submitDue();
    if (waiting_ > 0) decide();
  }
  return meter_.finish();
}

ReplayTime Engine::nextEvent() {
  // What was stopped or moved since left its old end behind.
  while (!ends_.empty() && (states_[ends_.top().job].run != ends_.top().run ||
                            states_[ends_.top().job].phase != Phase::kRunning)) {
    ends_.pop();
  }
  ReplayTime next = ends_.empty() ? kNever : ends_.top().at;
  if (next_ < states_.size()) next = std::min(next, trace_.jobs[next_].submitted);
  if (waiting_ > 0 && rules_.preempts) next = std::min({next, std::max(nextSlice_, now_), nextDemotion()});
  if (!relaxations_.empty()) next = std::min(next, relaxations_.begin()->first);
  return next;
}

void Engine::endDue() {
  while (!ends_.empty() && ends_.top().at <= now_) {
    const End end = ends_.top();
    ends_.pop();
    State& state = states_[end.job];
    if (state.run != end.run || state.phase != Phase::kRunning) continue;
    pause(end.job);
    history_.ended(state.history, state.ran);
    room_.release(state.shape, state.places);
    state.phase = Phase::kEnded;
    live_.erase(end.job);
    meter_.ended(end.job);
    hooks_.progress(++ended_, states_.size());
  }
}

void Engine::submitDue() {
  for (; next_ < states_.size() && trace_.jobs[next_].submitted <= now_; ++next_) {
    const TraceJob& job = trace_.jobs[next_];
    State& state = states_[next_];
    state.phase = Phase::kWaiting;
    state.since = now_;
    state.history = history_.submit(fmt::format("{}/{}", trace_.queues[job.queue], job.gpus), job.submitted);
    ++waiting_;
    live_.insert(next_);
    if (!rules_.preempts) inTurn_[job.queue].push_back(next_);
    if (rules_.relaxation && job.gpus > 1) relaxations_.emplace(relaxesAt(next_), next_);
    meter_.submitted(next_);
  }
}

void Engine::decide() {
  while (!relaxations_.empty() && relaxations_.begin()->first <= now_)
    relaxations_.erase(relaxations_.begin());
  if (rules_.preempts) {
    serveBest();
  } else {
    serveInTurn();
  }
}

// The earliest submitted of the queues' first jobs; a queue whose first job finds no place is done.
void Engine::serveInTurn() {
  std::set<std::pair<std::size_t, std::size_t>> heads;  // job, queue
  for (std::size_t queue = 0; queue < inTurn_.size(); ++queue) {
    if (!inTurn_[queue].empty()) heads.emplace(inTurn_[queue].front(), queue);
  }
  while (!heads.empty()) {
    const auto [job, queue] = *heads.begin();
    heads.erase(heads.begin());
    if (!placeFree(job)) continue;
    start(job);
    inTurn_[queue].pop_front();
    if (!inTurn_[queue].empty()) heads.emplace(inTurn_[queue].front(), queue);
  }
}

void Engine::serveBest() {
  if (now_ >= nextSlice_) nextSlice_ = now_ + rules_.interval;
  candidates_.assign(live_.begin(), live_.end());
  std::vector<core::SliceCandidate> asked;
  asked.reserve(candidates_.size());
  for (const std::size_t job : candidates_) {
    const bool running = states_[job].phase == Phase::kRunning;
    if (running) history_.ran(states_[job].history, ranSoFar(job));
  }
  for (const std::size_t job : candidates_) {
    asked.push_back(
        {.rank = core::rankOf(viewOf(job), rules_.order),
         .running = states_[job].phase == Phase::kRunning,
         .fixed = false,
         .shape = static_cast<std::uint32_t>(trace_.jobs[job].gpus) * 2 + (isRelaxed(job) ? 1U : 0U)});
  }
  room_.beginSlice();
  const core::Slice slice = core::timeSlice(asked, *this);
  for (const std::size_t each : slice.stop) {
    const std::size_t job = candidates_[each];
    State& state = states_[job];
    state.phase = Phase::kWaiting;
    state.since = now_;
    ++waiting_;
    if (rules_.relaxation && trace_.jobs[job].gpus > 1) relaxations_.emplace(relaxesAt(job), job);
    meter_.stopped(job);
    hooks_.decided({now_, ReplayDecision::Kind::kStop, job});
  }
  for (const std::size_t each : slice.move) {
    startClock(candidates_[each]);
    meter_.moved();
    hooks_.decided({now_, ReplayDecision::Kind::kMove, candidates_[each]});
  }
  for (const std::size_t each : slice.start) start(candidates_[each]);
}

core::OrderView Engine::viewOf(std::size_t job) {
  const State& state = states_[job];
  core::OrderView view{.key = &state.key,
                       .submitted = base::WallTime(trace_.jobs[job].submitted),
                       .gpus = trace_.jobs[job].gpus,
                       .ran = ranSoFar(job),
                       .running = state.phase == Phase::kRunning};
  if (rules_.knowsDurations) {
    view.remaining = state.remaining - (view.running ? worked(job) : ReplayTime{0});
  } else if (rules_.order.ordering == model::Ordering::kDefault) {
    view.gittinsIndex = history_.rate(state.history);
  }
  return view;
}

// When a running job reaches the next queue of least attained service.
ReplayTime Engine::nextDemotion() const {
  if (rules_.order.ordering != model::Ordering::kLas) return kNever;
  ReplayTime next = kNever;
  for (const std::size_t job : live_) {
    if (states_[job].phase != Phase::kRunning) continue;
    const auto service = ranSoFar(job) * trace_.jobs[job].gpus;
    for (const std::int64_t limit : rules_.order.lasLimits) {
      const ReplayTime missing = std::chrono::seconds(limit) - service;
      if (missing <= ReplayTime{0}) continue;
      next = std::min(next, now_ + missing / trace_.jobs[job].gpus + ReplayTime{1});
      break;
    }
  }
  return next;
}

bool Engine::keep(std::size_t candidate) {
  const std::size_t job = candidates_[candidate];
  State& state = states_[job];
  if (room_.keep(state.shape, state.places)) return true;
  pause(job);
  room_.release(state.shape, state.places);
  return false;
}

bool Engine::placeFree(std::size_t candidate) {
  const std::size_t job = rules_.preempts ? candidates_[candidate] : candidate;
  const auto find = [&](GangShape shape) {
    return rules_.preempts ? room_.placeFree(shape) : room_.place(shape);
  };
  const GangShape tight = tightShape(trace_.jobs[job].gpus, room_.gpusOfLargestNode());
  const GangShape loose{trace_.jobs[job].gpus, 1};
  return settle(job, tight, find(tight)) || (isRelaxed(job) && settle(job, loose, find(loose)));
}

bool Engine::placeOver(std::size_t candidate) {
  const std::size_t job = candidates_[candidate];
  const GangShape tight = tightShape(trace_.jobs[job].gpus, room_.gpusOfLargestNode());
  const GangShape loose{trace_.jobs[job].gpus, 1};
  return settle(job, tight, room_.placeOver(tight)) ||
         (isRelaxed(job) && settle(job, loose, room_.placeOver(loose)));
}

// Everybody anew, the largest first, so that holes fill up with ever smaller ones; of one size, who can stay
// does.
std::optional<std::vector<std::size_t>> Engine::placeMoving(std::size_t candidate,
                                                            const std::vector<std::size_t>& given) {
  if (given.size() > kMostMovable) return std::nullopt;
  const std::size_t newcomer = candidates_[candidate];
  std::int64_t asked = trace_.jobs[newcomer].gpus;
  for (const std::size_t each : given) asked += trace_.jobs[candidates_[each]].gpus;
  if (asked > room_.capacity()) return std::nullopt;

  std::vector<std::size_t> all = given;
  all.push_back(candidate);
  const auto gpusOf = [&](std::size_t each) { return trace_.jobs[candidates_[each]].gpus; };
  std::stable_sort(all.begin(), all.end(),
                   [&](std::size_t a, std::size_t b) { return gpusOf(a) > gpusOf(b); });
  room_.beginSlice();
  std::vector<std::optional<ReplayPlaces>> places(all.size());
  bool fits = true;
  for (std::size_t first = 0, end = 0; first < all.size() && fits; first = end) {
    for (end = first; end < all.size() && gpusOf(all[end]) == gpusOf(all[first]); ++end) {
      const State& state = states_[candidates_[all[end]]];
      if (all[end] != candidate && room_.keep(state.shape, state.places)) places[end] = state.places;
    }
    for (std::size_t i = first; i < end && fits; ++i) {
      if (!places[i]) places[i] = room_.give(states_[candidates_[all[i]]].shape);
      fits = places[i].has_value();
    }
  }
  if (!fits) {
    room_.beginSlice();
    for (const std::size_t each : given) {
      const State& state = states_[candidates_[each]];
      (void)room_.keep(state.shape, state.places);
    }
    return std::nullopt;
  }
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < all.size(); ++i) {
    State& state = states_[candidates_[all[i]]];
    if (all[i] != candidate) {
      if (state.places == *places[i]) continue;
      if (state.phase == Phase::kRunning) pause(candidates_[all[i]]);
      room_.release(state.shape, state.places);
      moved.push_back(all[i]);
    }
    state.places = std::move(*places[i]);
    room_.hold(state.shape, state.places);
  }
  return moved;
}

bool Engine::settle(std::size_t job, GangShape shape, std::optional<ReplayPlaces> places) {
  if (!places) return false;
  states_[job].shape = shape;
  states_[job].places = std::move(*places);
  return true;
}

ReplayTime Engine::relaxesAt(std::size_t job) const {
  const model::RelaxationPolicy& policy = *rules_.relaxation;
  const auto wait = std::min(policy.base + policy.perGpu * trace_.jobs[job].gpus, policy.cap);
  return states_[job].since + wait;
}

bool Engine::isRelaxed(std::size_t job) const {
  return rules_.relaxation && states_[job].phase == Phase::kWaiting && relaxesAt(job) <= now_;
}

void Engine::start(std::size_t job) {
  State& state = states_[job];
  if (rules_.relaxation) relaxations_.erase({relaxesAt(job), job});
  state.phase = Phase::kRunning;
  --waiting_;
  startClock(job);
  meter_.started(job);
  hooks_.decided({now_, ReplayDecision::Kind::kStart, job});
}

void Engine::startClock(std::size_t job) {
  State& state = states_[job];
  const TraceWork& work = trace_.work[job];
  state.startup = state.hasRun ? work.resume : work.startup;
  state.hasRun = true;
  state.since = now_;
  ++state.run;
  ends_.push({now_ + state.startup + state.remaining, job, state.run});
}

// Books what the present run has done so far.
void Engine::pause(std::size_t job) {
  State& state = states_[job];
  const ReplayTime work = worked(job);
  meter_.progressed(seconds(work) * trace_.jobs[job].gpus);
  state.ran = ranSoFar(job);
  state.remaining -= work;
  state.since = now_;
  history_.ran(state.history, state.ran);
}

ReplayTime Engine::ranSoFar(std::size_t job) const {
  const State& state = states_[job];
  return state.ran + (state.phase == Phase::kRunning ? now_ - state.since : ReplayTime{0});
}

ReplayTime Engine::worked(std::size_t job) const {
  const State& state = states_[job];
  return std::clamp(now_ - state.since - state.startup, ReplayTime{0}, state.remaining);
}

}  // namespace

Result<ReplayResult> runEngine(const Trace& trace, const std::vector<ReplayNode>& cluster,
                               const ReplayRules& rules, const ReplayHooks& hooks) {
  return Engine(trace, cluster, rules, hooks).run();
}

}  // namespace trainyard::replay
