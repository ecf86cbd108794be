#include "core/forecast/instant_cycle.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "core/elastic/user_scale.h"
#include "core/queues/namespaces.h"
#include "core/queues/priority.h"
#include "core/resize.h"
#include "model/charge.h"
#include "model/conditions.h"
#include "model/gang_size.h"
#include "model/set_condition.h"

namespace trainyard::core {
namespace {

using model::Job;
using JobPtr = InstantCycle::JobPtr;
namespace conditions = model::conditions;

void setScheduledPlaced(Job& job, bool placed, base::WallTime now) {
  setHolds(job, conditions::kScheduled, placed, now);
  setHolds(job, conditions::kQueued, !placed, now);
}

void serve(Job& job, base::WallTime now) {
  model::Service& service = job.status.service;
  if (job.status.gang.placed && service.updatedAt != base::WallTime{}) {
    const auto ran = std::chrono::floor<std::chrono::seconds>(now - service.updatedAt).count();
    service.gpuSeconds += ran * job.status.gpus;
    service.runSeconds += ran;
  }
  service.updatedAt = now;
}

}  // namespace

void setHolds(model::Job& job, std::string_view type, bool holds, base::WallTime now) {
  setCondition(job.status.conditions, type,
               holds ? model::ConditionStatus::kTrue : model::ConditionStatus::kFalse, {}, {}, now,
               job.generation);
}

void InstantCycle::add(Job job) {
  setScheduledPlaced(job, false, snapshot_.now);
  job.status.observedGeneration = job.generation;
  auto& jobs = snapshot_.jobs.edit();
  const auto at = std::lower_bound(jobs.begin(), jobs.end(), job.key,
                                   [](const JobPtr& each, const auto& key) { return each->key < key; });
  jobs.insert(at, std::make_shared<const Job>(std::move(job)));
}

void InstantCycle::change(const model::ObjectKey& key, const std::function<void(Job&)>& change) {
  JobPtr& at = snapshot_.jobs.edit()[snapshot_.jobs.positionOf(key)];
  auto changed = std::make_shared<Job>(*at);
  change(*changed);
  at = std::move(changed);
}

InstantCycle::JobPtr InstantCycle::end(const model::ObjectKey& key) {
  change(key, [&](Job& job) {
    for (const model::Assignment& place : job.status.gang.placed->assignments)
      snapshot_.freed.push_back({place.node, job.uid, snapshot_.now});
    leave(job);
    setHolds(job, conditions::kSucceeded, true, snapshot_.now);
  });
  auto& jobs = snapshot_.jobs.edit();
  const auto at = jobs.begin() + static_cast<std::ptrdiff_t>(snapshot_.jobs.positionOf(key));
  JobPtr ended = std::move(*at);
  jobs.erase(at);
  return ended;
}

InstantCycle::Outcome InstantCycle::decide(
    const std::function<std::vector<SchedulableJob>(const QueueTree&)>& waiting) {
  constexpr std::chrono::minutes kSeen{2};
  std::erase_if(snapshot_.freed, [&](const auto& each) { return each.at + kSeen < snapshot_.now; });
  cache_.begin(snapshot_);
  QueueTree tree(snapshot_, cache_.queues());
  Schedule schedule = core::schedule({.snapshot = snapshot_,
                                      .ledger = cache_.ledger(),
                                      .domains = cache_.domains(),
                                      .queues = tree,
                                      .cache = cache_.schedule(),
                                      .reservedSince = cache_.reservedSince(),
                                      .waiting = waiting(tree),
                                      .maxStartingMembers = std::numeric_limits<std::int64_t>::max()});
  const ScaleAnswer scaled = scale(schedule, tree);
  cache_.end(snapshot_.jobs.size());
  Outcome outcome{.changes = std::move(schedule.changes), .waits = {}, .wakeAt = schedule.wakeAt};
  for (const Change& change : outcome.changes) {
    carryOut(change);
    const bool givesBack = change.kind == ChangeKind::kShrink && !change.preemptor;
    outcome.stopped = outcome.stopped || change.kind == ChangeKind::kPreempt || givesBack;
  }
  for (const Change& change : scaled.changes) {
    carryOut(change);
    outcome.changes.push_back(change);
  }
  if (scaled.wakeAt && (!outcome.wakeAt || *scaled.wakeAt < *outcome.wakeAt)) outcome.wakeAt = scaled.wakeAt;
  outcome.sizes = schedule.sizes;
  // The next cycle relies on the time since which a reservation exists.
  for (const GangWait& wait : schedule.waits) {
    const auto& before = wait.job->status.pending;
    const bool same =
        before ? before->reservedSince == wait.pending->reservedSince : !wait.pending->reservedSince;
    if (!same) change(wait.job->key, [&](Job& job) { job.status.pending = *wait.pending; });
  }
  for (const QueueStatusUpdate& update : schedule.queues) {
    for (auto& queue : snapshot_.queues.edit()) {
      if (queue->name != update.queue->name) continue;
      auto changed = std::make_shared<model::Queue>(*queue);
      changed->status = update.status;
      queue = std::move(changed);
    }
  }
  outcome.waits = std::move(schedule.waits);
  return outcome;
}

// Resizes gangs as their users ask, unless the schedule changes them already.
ScaleAnswer InstantCycle::scale(const Schedule& schedule, QueueTree& tree) {
  ScaleRequest request{.snapshot = snapshot_,
                       .ledger = cache_.ledger(),
                       .domains = cache_.domains(),
                       .queues = tree,
                       .gangs = {},
                       .reservedFor =
                           [&](const Job& job, int priority, const auto& assignments) {
                             return schedule.reservedFor(job, priority, assignments, cache_.ledger(), tree);
                           },
                       .unreached = cache_.schedule().progress.notScaled,
                       .refusals = cache_.schedule().refusals};
  for (const JobPtr& job : cache_.notes().preemptibleNow()) {
    const auto isOfIt = [&](const Change& each) { return each.job->key == job->key; };
    const bool asks = job->spec.elastic && resizable(*job) && requestsOtherSize(*job);
    if (asks && std::none_of(schedule.changes.begin(), schedule.changes.end(), isOfIt))
      request.gangs.push_back(job);
  }
  if (request.gangs.empty()) return {};
  return scaleAsRequested(request);
}

void InstantCycle::carryOut(const Change& what) {
  const base::WallTime now = snapshot_.now;
  if (what.kind == ChangeKind::kGrow || what.kind == ChangeKind::kShrink) return resize(what);
  change(what.job->key, [&](Job& job) {
    if (what.kind != ChangeKind::kStart) {
      leave(job);
      ++job.status.preemptions.count;
      if (what.byOtherQueue) ++job.status.preemptions.byOtherQueues;
      job.status.preemptions.last = now;
    }
    if (what.kind == ChangeKind::kPreempt) return;
    serve(job, now);
    model::GangRecord& gang = job.status.gang;
    gang.backoff.reset();
    gang.placed = model::Placed{.epoch = ++gang.lastEpoch, .assignments = what.add.assignments};
    if (!what.backfilled.empty()) {
      gang.charge =
          model::makeCharge(job.spec, requestedQueue(job, snapshot_), Priorities(snapshot_).of(job));
      gang.charge->backfilled = what.backfilled;
    }
    job.status.pending.reset();
    job.status.gpus = model::gangGpus(job.spec, gang);
    setScheduledPlaced(job, true, now);
    job.status.resize = {};
  });
}

void InstantCycle::resize(const Change& what) {
  change(what.job->key, [&](Job& job) {
    serve(job, snapshot_.now);
    model::GangRecord& gang = job.status.gang;
    if (what.kind == ChangeKind::kShrink) {
      std::size_t members = 0;
      for (const model::Assignment& each : what.remove) members += each.indices.size();
      gang.placed->assignments = withoutLast(job, static_cast<int>(members));
    }
    for (model::Assignment added : what.add.assignments) {
      added.epoch = gang.lastEpoch + 1;
      gang.placed->assignments.push_back(std::move(added));
    }
    ++gang.lastEpoch;
    job.status.gpus = model::gangGpus(job.spec, gang);
    const int members = elasticMembers(job);
    const bool asked = !what.preemptor && members <= desiredMembers(job);
    const model::SizeOwner by = what.preemptor ? model::SizeOwner::kPreemption
                                : asked        ? model::SizeOwner::kSpec
                                               : model::SizeOwner::kCluster;
    recordSize(job, {members, by, {}}, snapshot_, job.status.resize);
    ++job.status.resize.count;
  });
}

void InstantCycle::leave(Job& job) {
  serve(job, snapshot_.now);
  job.status.gang.placed.reset();
  job.status.gang.charge.reset();
  job.status.gpus = model::desiredGpus(job.spec);
  setScheduledPlaced(job, false, snapshot_.now);
}

}  // namespace trainyard::core
