#include "core/forecast/forecast.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/admission/admission.h"
#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/order/run_time_model.h"
#include "core/preemption/claims.h"
#include "core/preemption/preemption.h"
#include "core/queues/priority.h"
#include "core/queues/queue_tree.h"
#include "core/schedule/pending_order.h"
#include "core/status/describe.h"
#include "model/conditions.h"
#include "model/managed_by.h"

namespace trainyard::core {
namespace {

using model::Job;
using JobPtr = std::shared_ptr<const Job>;

const JobDecision* decisionOn(const Job& job, const Plan& plan) {
  const auto found = std::find_if(plan.decisions.begin(), plan.decisions.end(),
                                  [&](const JobDecision& each) { return each.job->key == job.key; });
  return found == plan.decisions.end() ? nullptr : &*found;
}

void describe(Forecast& forecast, const Ledger& ledger, const Domains& domains,
              const model::Snapshot& snapshot) {
  forecast.where = describePlacement(forecast.assignments, ledger, snapshot.policy.topology);
  for (std::size_t level = domains.nodeLevel(); level > 0; --level) {
    const auto rangeOf = [&](const model::Assignment& place) {
      return domains.domainOf(level, domains.positionOf(*ledger.find(place.node)));
    };
    const Domains::Range first = rangeOf(forecast.assignments.front());
    if (!std::all_of(forecast.assignments.begin(), forecast.assignments.end(),
                     [&](const auto& place) { return rangeOf(place) == first; }))
      continue;
    forecast.level = domains.levels()[level].name;
    forecast.domain = domains.path(level, first.begin);
    return;
  }
}

// Returns the gangs that the claim preempts or moves.
std::vector<Forecast::Stop> stopsOf(const Job& preemptor, const Plan& plan, const model::Snapshot& snapshot,
                                    const Ledger& ledger) {
  auto claims = std::make_shared<Job>(preemptor);
  claims->status = *decisionOn(preemptor, plan)->status;
  const auto claimed = claimedGangs({std::move(claims)}, snapshot.pods);
  std::vector<Forecast::Stop> stops;
  for (const JobPtr& job : snapshot.jobs) {
    if (!claimed.contains(job->key)) continue;
    Forecast::Stop& stop = stops.emplace_back(job, lostWork(*job, snapshot));
    const JobDecision* decision = decisionOn(*job, plan);
    if (decision == nullptr || !decision->status || !decision->status->gang.proposal) continue;
    const auto& assignments = decision->status->gang.proposal->add;
    if (!assignments.empty()) stop.goesTo = describePlacement(assignments, ledger, snapshot.policy.topology);
  }
  return stops;
}

bool waits(const Job& job, const Plan& plan) {
  const model::GangRecord& gang = job.status.gang;
  if (gang.placed || gang.proposal || job.deleting || job.finished() || job.spec.run.suspend) return false;
  const JobDecision* decision = decisionOn(job, plan);
  const model::JobStatus& status = decision != nullptr && decision->status ? *decision->status : job.status;
  if (status.gang.proposal) return false;
  const auto admitted =
      std::find_if(status.conditions.begin(), status.conditions.end(),
                   [](const auto& each) { return each.type == model::conditions::kAdmitted; });
  return admitted == status.conditions.end() || admitted->status == model::ConditionStatus::kTrue;
}

void countQueue(Forecast& forecast, const model::Snapshot& snapshot, const Plan& plan) {
  const Priorities priorities(snapshot);
  LiveRuns live;
  RunTimeModel runs(snapshot, live);
  const QueueTree tree(snapshot);
  const model::QueueName& asked = tree.requestedQueueOf(*forecast.job);
  const QueuePosition own = queuePositionOf(*forecast.job, priorities.of(*forecast.job), snapshot, runs);
  for (const JobPtr& job : snapshot.jobs) {
    if (tree.queueNameOf(*job) != asked || !waits(*job, plan)) continue;
    ++forecast.waiting;
    if (queuePositionOf(*job, priorities.of(*job), snapshot, runs).before(own)) ++forecast.ahead;
  }
}

void judge(Forecast& forecast, const Plan& plan) {
  const JobDecision* decision = decisionOn(*forecast.job, plan);
  if (forecast.job->spec.run.suspend && !model::managedByOther(*forecast.job)) {
    forecast.outcome = Forecast::Outcome::kSuspended;
    if (forecast.job->heldByKueue.empty()) return;
    forecast.outcome = Forecast::Outcome::kWaits;
    forecast.pending = model::Pending{model::PendingReason::kWaitingForKueue, forecast.job->heldByKueue};
    return;
  }
  if (decision == nullptr || !decision->status) {
    if (model::managedByOther(*forecast.job)) return;
    // The one reason that the operator does not report at first (Settings::startingPatience).
    forecast.outcome = Forecast::Outcome::kWaits;
    forecast.pending = model::Pending{model::PendingReason::kWaitingForTurn,
                                      "behind other jobs whose pods are being started"};
    return;
  }
  const model::JobStatus& status = *decision->status;
  if (status.gang.proposal) {
    forecast.outcome = Forecast::Outcome::kStarts;
    forecast.assignments = status.gang.proposal->add;
    return;
  }
  const bool refused = std::any_of(status.conditions.begin(), status.conditions.end(), [](const auto& each) {
    return each.type == model::conditions::kAdmitted && each.status == model::ConditionStatus::kFalse;
  });
  forecast.outcome = refused ? Forecast::Outcome::kRefused : Forecast::Outcome::kWaits;
  forecast.pending = status.pending;
}

}  // namespace

std::vector<Forecast> forecast(CycleInput input, const std::vector<JobPtr>& jobs) {
  model::Snapshot& snapshot = input.snapshot;
  for (const JobPtr& job : snapshot.jobs) {
    JobFeedback checked;
    checked.templateError = refusalOfTemplate(*job).value_or("");
    input.feedback.try_emplace(job->key, std::move(checked));
  }
  auto& all = snapshot.jobs.edit();
  all.insert(all.end(), jobs.begin(), jobs.end());
  std::sort(all.begin(), all.end(), [](const JobPtr& a, const JobPtr& b) { return a->key < b->key; });

  const Plan plan = cycle(input);
  const Ledger ledger(snapshot);
  const Domains domains(snapshot.nodes, snapshot.policy.topology);
  std::vector<Forecast> forecasts;
  std::set<model::ObjectKey> wait;
  for (const JobPtr& job : jobs) {
    Forecast& each = forecasts.emplace_back();
    each.job = job;
    judge(each, plan);
    if (each.outcome == Forecast::Outcome::kStarts) {
      describe(each, ledger, domains, snapshot);
      each.stops = stopsOf(*job, plan, snapshot, ledger);
    } else if (each.outcome == Forecast::Outcome::kWaits) {
      countQueue(each, snapshot, plan);
      wait.insert(job->key);
    }
  }
  if (wait.empty()) return forecasts;
  const auto expected = foresee(snapshot, wait);
  for (Forecast& each : forecasts) {
    if (const auto found = expected.find(each.job->key); found != expected.end())
      each.expected = found->second;
  }
  return forecasts;
}

}  // namespace trainyard::core
