#include <map>
#include <set>

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "core/ledger/ledger.h"
#include "core/ledger/what_if.h"
#include "core/queues/priority.h"
#include "property/queue_scene.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

std::int64_t gpusOf(const model::Job& job) {
  std::int64_t total = 0;
  for (const model::Role& role : job.spec.roles) total += role.shape.requests.gpus() * role.replicas;
  return total;
}

// The jobs that are victims of a start, with the number of named pods of each.
std::map<const model::Job*, std::size_t> victimsOf(const PlannedStart& start,
                                                   const model::Snapshot& snapshot) {
  std::map<const model::Job*, std::size_t> victims;
  for (const model::Victim& victim : start.proposal.victims) {
    const auto at = std::find_if(snapshot.pods.begin(), snapshot.pods.end(),
                                 [&](const auto& each) { return each->uid == victim.uid; });
    RC_ASSERT(at != snapshot.pods.end());
    const auto owner = std::find_if(snapshot.jobs.begin(), snapshot.jobs.end(),
                                    [&](const auto& each) { return each->uid == (*at)->controllerUid; });
    RC_ASSERT(owner != snapshot.jobs.end());
    ++victims[owner->get()];
  }
  return victims;
}

const model::Queue* findQueue(const model::Snapshot& snapshot, const model::QueueName& name) {
  for (const auto& queue : snapshot.queues) {
    if (queue->name == name) return queue.get();
  }
  return nullptr;
}

// Returns the queues from the job's queue up to its root.
std::vector<const model::Queue*> pathOf(const model::Snapshot& snapshot, const model::Job& job) {
  std::vector<const model::Queue*> path;
  for (const model::Queue* at = findQueue(snapshot, job.spec.queue); at != nullptr;
       at = findQueue(snapshot, at->parent)) {
    path.push_back(at);
  }
  return path;
}

using Usage = std::map<model::QueueName, std::int64_t>;

void charge(Usage& usage, const model::Snapshot& snapshot, const model::Job& job, std::int64_t sign) {
  for (const model::Queue* queue : pathOf(snapshot, job)) usage[queue->name] += sign * gpusOf(job);
}

Usage usageOf(const model::Snapshot& snapshot) {
  Usage usage;
  for (const auto& job : snapshot.jobs) {
    if (job->status.gang.placed) charge(usage, snapshot, *job, 1);
  }
  return usage;
}

std::string describe(const Plan& plan) {
  std::string text;
  for (const PlannedStart& start : startsOf(plan)) {
    text += fmt::format("{} starts:", start.job->key.name);
    for (const auto& each : start.proposal.add) text += fmt::format(" {} {}", each.indices.str(), each.node);
    for (const auto& victim : start.proposal.victims) text += fmt::format(", stops {}", victim.pod.name);
    text += "\n";
  }
  for (const JobDecision& decision : plan.decisions) {
    if (!decision.status || !decision.status->pending) continue;
    text += fmt::format("{} waits {}: {}\n", decision.job->key.name,
                        model::toString(decision.status->pending->reason), decision.status->pending->message);
  }
  return text;
}

}  // namespace

TEST_CASE("a started gang is whole and fits once its victims have ended") {
  rc::prop("no over-commitment", [](const QueueScene& scene) {
    const model::Snapshot snapshot = snapshotOf(scene);
    const Plan plan = cycle(inputOf(snapshot));
    RC_LOG() << describe(plan);
    Ledger ledger(snapshot);
    NodeAmounts ended;
    std::set<model::Uid> stopped;
    const auto starts = startsOf(plan);
    for (const PlannedStart& start : starts) {
      for (const model::Victim& victim : start.proposal.victims) {
        RC_ASSERT(stopped.insert(victim.uid).second);
        const auto at = std::find_if(snapshot.pods.begin(), snapshot.pods.end(),
                                     [&](const auto& each) { return each->uid == victim.uid; });
        RC_ASSERT(at != snapshot.pods.end());
        ended.emplace_back(ledger.find((*at)->node).value(), (*at)->shape.requests);
      }
    }
    WhatIf withoutVictims(ledger);
    withoutVictims.release(ended);
    for (const PlannedStart& start : starts) {
      std::set<int> members;
      for (const model::Assignment& each : start.proposal.add) {
        const std::size_t node = ledger.find(each.node).value();
        for (const int index : each.indices.values()) RC_ASSERT(members.insert(index).second);
        ledger.take(node, start.job->spec.roles[0].shape.requests, static_cast<int>(each.indices.size()));
        RC_ASSERT(ledger.nodes()[node].free.gpus() >= 0);
      }
      RC_ASSERT(members.size() == static_cast<std::size_t>(start.job->spec.totalReplicas()));
    }
    RC_CLASSIFY(!starts.empty(), "starts");
    RC_CLASSIFY(!stopped.empty(), "preempts others");
  });
}

TEST_CASE("only whole preemptible gangs are preempted and only for a placement") {
  rc::prop("victims", [](const QueueScene& scene) {
    const model::Snapshot snapshot = snapshotOf(scene);
    const Plan plan = cycle(inputOf(snapshot));
    RC_LOG() << describe(plan);
    const Priorities priorities(snapshot);
    for (const PlannedStart& start : startsOf(plan)) {
      RC_ASSERT(!start.proposal.add.empty());
      for (const auto& [victim, pods] : victimsOf(start, snapshot)) {
        RC_ASSERT(pods == static_cast<std::size_t>(victim->spec.totalReplicas()));
        RC_ASSERT(victim->spec.preemptible);
        RC_ASSERT(victim != start.job.get());
        if (victim->spec.queue != start.job->spec.queue) continue;
        RC_ASSERT(priorities.of(*victim) <= priorities.of(*start.job));
      }
    }
    // No pod is deleted except by a start that names it as a victim.
    for (const JobDecision& decision : plan.decisions) {
      for (const Action& action : decision.actions) RC_ASSERT(!std::holds_alternative<DeletePod>(action));
    }
  });
}

TEST_CASE("no start brings a queue or one above it beyond its limit") {
  rc::prop("quotas", [](const QueueScene& scene) {
    const model::Snapshot snapshot = snapshotOf(scene);
    const Plan plan = cycle(inputOf(snapshot));
    RC_LOG() << describe(plan);
    Usage usage = usageOf(snapshot);
    for (const PlannedStart& start : startsOf(plan)) {
      charge(usage, snapshot, *start.job, 1);
      for (const auto& [victim, pods] : victimsOf(start, snapshot)) charge(usage, snapshot, *victim, -1);
    }
    for (const PlannedStart& start : startsOf(plan)) {
      for (const model::Queue* queue : pathOf(snapshot, *start.job)) {
        const auto limit = queue->limit.find(model::names::kGpuResource);
        RC_ASSERT((!limit || usage[queue->name] <= *limit));  // RapidCheck's macro does not short-circuit ||
      }
    }
  });
}

TEST_CASE("a queue within its guarantee loses nothing to other queues") {
  rc::prop("guarantees", [](const QueueScene& scene) {
    const model::Snapshot snapshot = snapshotOf(scene);
    const Plan plan = cycle(inputOf(snapshot));
    RC_LOG() << describe(plan);
    // A started job counts for its queue at once; a moved job held as much before.
    Usage usage = usageOf(snapshot);
    for (const PlannedStart& start : startsOf(plan)) {
      if (!start.job->status.gang.placed) charge(usage, snapshot, *start.job, 1);
    }
    for (const PlannedStart& start : startsOf(plan)) {
      for (const auto& [victim, pods] : victimsOf(start, snapshot)) {
        if (victim->spec.queue == start.job->spec.queue) continue;
        // A queue in the victim's path, below the common ancestors, exceeds its guaranteed quota; jobs of a
        // queue above the other one have no guarantee relative to it.
        std::set<model::QueueName> common;
        for (const model::Queue* queue : pathOf(snapshot, *start.job)) common.insert(queue->name);
        bool borrows = common.contains(victim->spec.queue);
        for (const model::Queue* queue : pathOf(snapshot, *victim)) {
          if (common.contains(queue->name)) break;
          borrows = borrows || usage.at(queue->name) > queue->guaranteed.amount(model::names::kGpuResource);
        }
        RC_ASSERT(borrows);
      }
    }
  });
}

TEST_CASE("every pending job starts or has a reason") {
  rc::prop("no job is forgotten", [](const QueueScene& scene) {
    const model::Snapshot snapshot = snapshotOf(scene);
    const Plan plan = cycle(inputOf(snapshot));
    std::set<model::ObjectKey> decided;
    for (const JobDecision& decision : plan.decisions) {
      if (!decision.status) continue;
      const bool starts = decision.status->gang.proposal.has_value();
      const bool waits = decision.status->pending.has_value() && !decision.status->pending->message.empty();
      if (starts || waits) decided.insert(decision.job->key);
    }
    for (const auto& job : snapshot.jobs) RC_ASSERT(job->status.gang.placed || decided.contains(job->key));
  });
}

TEST_CASE("neither the order of input nor a repetition changes a plan") {
  rc::prop("deterministic", [](const QueueScene& scene) {
    const CycleInput input = inputOf(snapshotOf(scene));
    const std::string once = describe(cycle(input));
    RC_ASSERT(describe(cycle(input)) == once);
    RC_ASSERT(describe(cycle(inputOf(snapshotOf(scene)))) == once);
    RC_ASSERT(describe(cycle(inputOf(snapshotOf(scene, true)))) == once);
  });
}
