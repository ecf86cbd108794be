#include "operator/execute/plan_executor.h"

#include <algorithm>
#include <utility>

namespace trainyard::operator_ {

PlanExecutor::PlanExecutor(Dependencies dependencies, std::function<void()> settled)
    : deps_(std::move(dependencies)),
      steps_(deps_, std::move(settled)),
      singles_(deps_.cache, deps_.settings),
      status_(deps_, steps_, deferredWrites_, templateChecks_,
              [this](const StepPtr& step) { runActions(step); }),
      actions_(deps_, steps_, templateChecks_, singles_) {}

void PlanExecutor::execute(const core::Plan& plan) {
  deferredWrites_.beginCycle(deps_.executor.now(), singles_.unboundPods(), plan.capacityWanted);
  actions_.deleter().forgetOld();
  steps_.forgetGoneJobs();
  for (const core::DeletePod& orphan : plan.orphans) {
    deps_.log.info("deleting a pod of a TrainingJob that no longer exists",
                   {{"namespace", orphan.pod.ns}, {"pod", orphan.pod.name}});
    actions_.deleter().remove(orphan, [](bool) {});
  }
  for (const core::JobDecision& decision : plan.decisions) start(decision);
}

void PlanExecutor::start(const core::JobDecision& decision) {
  const model::ObjectKey& key = decision.job->key;
  if (steps_.isBusy(key)) return;
  auto step = std::make_shared<Step>();
  step->decision = decision;
  if (decision.podIsRecord) {
    singles_.making(*decision.job, decision.status->gang, deps_.executor.wallNow());
    status_.recordEvents(*step);
  } else if (decision.status) {
    const base::Instant now = deps_.executor.now();
    if (mayWriteNow(decision, now)) {
      deferredWrites_.note(key, now);
    } else {
      step->decision.status.reset();
      step->decision.events.clear();
      if (decision.job->recordUnwritten && decision.urgency != core::Urgency::kSpare)
        steps_.open(*decision.job).statusDeferred = true;
      if (step->decision.actions.empty()) return;
    }
  }
  JobState& state = steps_.open(*decision.job);
  state.busy = true;
  if (step->decision.status) state.statusDeferred = false;
  if (step->decision.status && !decision.podIsRecord) return status_.write(step);
  runActions(step);
}

bool PlanExecutor::mayWriteNow(const core::JobDecision& decision, base::Instant now) {
  // A bound pod stands for its record while the write waits. Without a bound pod, the write is due.
  const bool isRecord = decision.job->recordUnwritten && decision.status->gang.placed.has_value();
  switch (decision.urgency) {
    case core::Urgency::kNow: return true;
    case core::Urgency::kSoon:
      return deferredWrites_.isDue(decision.job->key, core::DeferredStatus::kBound, isRecord, now);
    case core::Urgency::kPaced:
      return deferredWrites_.isDue(decision.job->key, core::DeferredStatus::kStarted, isRecord, now);
    case core::Urgency::kSpare: return deferredWrites_.allow(decision.job->key, now);
  }
  return true;
}

void PlanExecutor::runActions(const StepPtr& step) {
  const auto& actions = step->decision.actions;
  // One part more than actions, so that immediate answers cannot end the step before all actions were
  // started.
  step->openParts = actions.size() + 1;
  for (const core::Action& action : actions) actions_.run(step, action);
  steps_.partDone(step, true);
}

std::map<model::ObjectKey, core::JobFeedback> PlanExecutor::feedback(const model::Snapshot& snapshot) const {
  const base::Instant now = deps_.executor.now();
  std::map<model::ObjectKey, core::JobFeedback> all;
  DecisionsUnderWay::Reader states(steps_);
  TemplateChecks::Fine fine(templateChecks_, now);
  for (const auto& job : snapshot.jobs) {
    const JobState* known = states.find(job->key);
    const model::GangRecord& gang = job->status.gang;
    const bool waits = !gang.placed && !gang.proposal && !job->finished();
    if (known == nullptr && (!waits || fine(*job))) continue;
    core::JobFeedback feedback = known != nullptr ? feedbackOn(*job, *known, now) : core::JobFeedback();
    if (known != nullptr && known->statusDeferred)
      feedback.held = deferredWrites_.deferredStatus(job->key, now);
    if (waits) {
      feedback.templateError = templateChecks_.outcome(*job, now);
      feedback.templateAsked = !feedback.templateError && templateChecks_.asked(*job);
    }
    all.emplace_hint(all.end(), job->key, std::move(feedback));
  }
  return all;
}

void PlanExecutor::overlay(model::Snapshot& snapshot) {
  singles_.overlay(snapshot);
  templateChecks_.overlay(snapshot);
  steps_.overlay(snapshot);
}

std::optional<base::Instant> PlanExecutor::nextWake() const {
  std::optional<base::Instant> wake = deferredWrites_.nextWake();
  for (const auto& each : {templateChecks_.nextWake(deps_.executor.now()), steps_.nextWake()}) {
    if (each && (!wake || *each < *wake)) wake = each;
  }
  return wake;
}

}  // namespace trainyard::operator_
