#include "operator/cycle_runner.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace trainyard::operator_ {

CycleRunner::CycleRunner(const OperatorOptions& options, Dependencies dependencies)
    : options_(options),
      deps_(std::move(dependencies)),
      timer_(deps_.executor, [this] { run(); }),
      executor_({.api = deps_.api,
                 .executor = deps_.executor,
                 .cache = deps_.cluster.cache(),
                 .events = deps_.events,
                 .metrics = deps_.metrics,
                 .log = deps_.log.named("executor"),
                 .schedulerName = options_.schedulerName,
                 .settings = options_.settings,
                 .launcherImage = options_.launcherImage,
                 .offload = deps_.offload,
                 .ownerWritten =
                     [this](const model::OwnerKind& kind, std::string_view object) {
                       deps_.cluster.workloads().applyWrite(kind, object);
                     }},
                [this] { settled(); }),
      queueStatus_(
          {.api = deps_.api,
           .executor = deps_.executor,
           .cache = deps_.cluster.cache(),
           .metrics = deps_.metrics,
           .log = deps_.log.named("queues"),
           .overtaken = [this] { request(); },
           .changed = [this](const model::Queue& queue,
                             const model::Condition& ready) { deps_.events.recordReady(queue, ready); }}) {}

// The expressions of failure rules were already compiled once, when the policy file was read.
void CycleRunner::takePolicy() {
  if (const auto taken = executor_.setFailureRules(options_.policy.failureRules); !taken)
    deps_.log.error("failure rules are not accepted", {{"error", taken.error().message}});
  executor_.setPreflight(options_.policy.preflight);
}

void CycleRunner::stop(std::function<void()> idle) {
  timer_.stop();
  idle_ = std::move(idle);
  settled();
}

void CycleRunner::settled() {
  if (!timer_.isStopped()) return request();
  if (executor_.busyJobs() == 0) idle_();
}

void CycleRunner::run() {
  if (timer_.isStopped() || !deps_.leading()) return;
  if (!deps_.cluster.synced()) return timer_.retrySoon();
  const base::Instant begin = deps_.executor.now();
  const core::CycleInput input = takeInput();
  const base::Instant read = deps_.executor.now();
  const core::Plan plan = core::cycle(input, cache_);
  const base::Instant planned = deps_.executor.now();
  executor_.execute(plan);
  queueStatus_.take(plan.queues);
  deps_.metrics.noteSizes(plan.sizes);
  deps_.metrics.noteFairness(plan.fairnessLossPermille);
  const base::Instant end = deps_.executor.now();
  deps_.metrics.noteCycle({.snapshot = read - begin, .plan = planned - read, .apply = end - planned});
  timer_.restAfterCycle(begin, end);
  timer_.wakeAt(nextWake(plan));
  deps_.ran();
}

core::CycleInput CycleRunner::takeInput() {
  core::CycleInput input;
  input.snapshot = deps_.cluster.planningSnapshot();
  input.snapshot.runTimes = deps_.tasks.runTimes();
  executor_.overlay(input.snapshot);
  deps_.cluster.showDevicesOfJobs(input.snapshot);
  input.settings = options_.settings;
  input.term = term_;
  input.feedback = executor_.feedback(input.snapshot);
  input.otherFeedback = executor_.otherFeedback();
  input.life = deps_.tasks.progress();
  return input;
}

// The next time at which something is due without a change.
std::optional<base::Instant> CycleRunner::nextWake(const core::Plan& plan) const {
  const std::optional<base::Instant> due = executor_.nextWake();
  if (!plan.wakeAt) return due;
  const base::Instant at = deps_.executor.now() + std::max(base::WallTime::duration::zero(),
                                                           *plan.wakeAt - deps_.executor.wallNow());
  return due ? std::min(*due, at) : at;
}

}  // namespace trainyard::operator_
