#include "replay/engine/engine.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/forecast/instant_cycle.h"
#include "core/order/run_times.h"
#include "replay/engine/cluster.h"
#include "replay/engine/job_factory.h"
#include "replay/engine/job_runs.h"
#include "replay/engine/meter.h"
#include "replay/engine/world.h"

namespace trainyard::replay {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr ReplayTime kNever = ReplayTime::max();
// Capacity that victims leave may fit other jobs, so the decision is repeated up to this often.
constexpr int kRounds = 10;

// The loop of a replay: jobs arrive and end in the order of time, and the cycle decides after each event.
class Engine {
 public:
  Engine(const Trace& trace, const std::vector<ReplayNode>& cluster, const ReplaySetup& setup,
         const ReplayHooks& hooks)
      : trace_(trace),
        setup_(setup),
        hooks_(hooks),
        jobs_(trace, cluster, setup),
        cycle_(worldOf(trace, cluster, setup)),
        meter_(trace, gpusOf(cluster), !setup.policy.backfill.enabled),
        runs_(trace, setup, jobs_, cycle_),
        learnt_(std::make_shared<model::RunTimes>()) {
    cycle_.world().runTimes = learnt_;
  }

  Result<ReplayResult> run() {
    while (runs_.ended() < runs_.all()) {
      const ReplayTime next = nextEvent();
      if (next == kNever)
        return fail(ErrorCode::kInternal, fmt::format("{} jobs wait for what never comes", runs_.waiting()));
      now_ = next;
      cycle_.setTime(calendar(now_));
      meter_.advance(secondsOf(now_));
      while (const auto job = runs_.nextDue(now_)) end(*job);
      submitDue();
      wakeAt_ = kNever;
      for (int round = 0; round < kRounds && (runs_.waiting() > 0 || setup_.elastic); ++round) {
        if (!decide()) break;
      }
    }
    ReplayResult result = meter_.finish();
    // At another size a job may be faster than in the trace, or need less of the cluster's time.
    if (setup_.elastic) result.fluidLowerBoundSeconds = 0;
    return result;
  }

 private:
  [[nodiscard]] ReplayTime nextEvent() {
    ReplayTime next = runs_.nextEnd().value_or(kNever);
    if (next_ < trace_.jobs.size()) next = std::min(next, trace_.jobs[next_].submitted);
    return std::min(next, wakeAt_);
  }

  void end(std::size_t job) {
    meter_.progressed(runs_.end(job).progressed);
    (void)core::learn(*learnt_, model::SharedList<model::Job>({cycle_.end(runs_.keyOf(job))}));
    meter_.ended(job);
    hooks_.held({.at = now_, .job = job, .ended = true});
    hooks_.progress(runs_.ended(), runs_.all());
  }

  void submitDue() {
    for (; next_ < trace_.jobs.size() && trace_.jobs[next_].submitted <= now_; ++next_) {
      model::Job job = jobs_.make(next_);
      runs_.submit(next_, job.key);
      cycle_.add(std::move(job));
      meter_.submitted(next_);
    }
  }

  // Returns true if another decision may start further jobs now.
  bool decide() {
    const auto outcome = cycle_.decide([this](const core::QueueTree&) {
      std::vector<core::SchedulableJob> asking;
      asking.reserve(runs_.waiting());
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
    const std::size_t job = JobFactory::indexOf(*change.job);
    switch (change.kind) {
      case core::ChangeKind::kStart:
        start(job);
        meter_.started(job, runs_.gpusOf(job));
        hooks_.decided({now_, ReplayDecision::Kind::kStart, job});
        break;
      case core::ChangeKind::kPreempt:
        stop(job);
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
        meter_.resized(job, runs_.gpusOf(job));
        hooks_.decided({now_, ReplayDecision::Kind::kResize, job});
        break;
    }
  }

  void start(std::size_t job) { hooks_.held(runs_.start(job, now_)); }

  void stop(std::size_t job) {
    const GpuWork work = runs_.stop(job, now_);
    meter_.progressed(work.progressed);
    meter_.lost(work.lost);
  }

  const Trace& trace_;
  const ReplaySetup& setup_;
  const ReplayHooks& hooks_;
  const JobFactory jobs_;
  core::InstantCycle cycle_;
  ReplayMeter meter_;
  JobRuns runs_;
  std::shared_ptr<model::RunTimes> learnt_;
  ReplayTime now_{0};
  ReplayTime wakeAt_ = kNever;
  std::size_t next_ = 0;  // to be submitted
};

}  // namespace

Result<ReplayResult> runEngine(const Trace& trace, const std::vector<ReplayNode>& cluster,
                               const ReplaySetup& setup, const ReplayHooks& hooks) {
  if (auto good = checkFit(trace, cluster, setup); !good) return fail(good.error());
  return Engine(trace, cluster, setup, hooks).run();
}

}  // namespace trainyard::replay
