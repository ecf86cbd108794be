#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <rapidcheck.h>

#include "core/cycle/cycle.h"
#include "model/conditions.h"
#include "model/gang_size.h"
#include "model/names.h"
#include "support/builders.h"

// Small random clusters with queues, running and pending jobs, for properties of starts, preemptions and
// waiting. Small enough for enumeration.
namespace trainyard::test {

// The present time of a scene, in seconds since at(0); jobs were created and started before.
inline constexpr int kSceneNow = 100'000;
inline constexpr const char* kPriorities[] = {"low", "middle", "high"};

struct SceneQueue {
  int parent = 0;  // 0: a root; otherwise 1 + the index of an earlier queue
  int weight = 1;
  int guaranteed = 0;
  int limit = -1;  // negative: none
  bool reclaim = true;
  bool withinQueue = true;
};

struct SceneJob {
  int queue = 0;
  int priority = 0;
  bool preemptible = true;
  int members = 1;
  int gpus = 1;
  int age = 0;       // hundreds of seconds since its creation, or since its start if it runs
  int estimate = 0;  // hundreds of seconds; 0: none
  bool runs = false;
  int required = 0;  // 1: rack, 2: node
};

struct QueueScene {
  std::vector<int> nodes;  // GPUs; every two nodes are a rack
  std::vector<SceneQueue> queues;
  std::vector<SceneJob> jobs;
  int reservationMinutes = 10;
};

inline std::string queueName(std::size_t index) { return fmt::format("q{}", index); }
inline std::string jobName(std::size_t index) { return fmt::format("ml/j{}", index); }

inline std::vector<model::Queue> queuesOf(const QueueScene& scene) {
  std::vector<model::Queue> queues;
  const std::string gpu(model::names::kGpuResource);
  for (std::size_t i = 0; i < scene.queues.size(); ++i) {
    const SceneQueue& each = scene.queues[i];
    model::Queue queue;
    queue.name = model::QueueName(queueName(i));
    queue.uid = model::Uid("uid-" + queueName(i));
    const auto parent = static_cast<std::size_t>(each.parent);
    if (parent > 0 && parent <= i) queue.parent = model::QueueName(queueName(parent - 1));
    queue.weight = each.weight;
    if (each.guaranteed > 0) queue.guaranteed.set(gpu, each.guaranteed);
    if (each.limit >= 0) queue.limit.set(gpu, std::max(each.limit, each.guaranteed));
    queue.reclaim = each.reclaim;
    queue.withinQueue = each.withinQueue ? model::WithinQueue::kLowerPriority : model::WithinQueue::kNever;
    queues.push_back(std::move(queue));
  }
  return queues;
}

inline model::Job jobOf(const QueueScene& scene, std::size_t index) {
  const SceneJob& each = scene.jobs[index];
  const int created = kSceneNow - 100 * each.age;
  JobBuilder made = job(jobName(index)).role("worker", each.members, gpus(each.gpus)).created(created);
  made.priority(kPriorities[each.priority]);
  if (!scene.queues.empty())
    made.queue(queueName(static_cast<std::size_t>(each.queue) % scene.queues.size()));
  if (each.required > 0) made.required(each.required == 1 ? "rack" : "node");
  model::Job built = made;
  built.spec.preemptible = each.preemptible;
  if (each.estimate > 0) built.spec.estimatedDuration = std::chrono::seconds(100 * each.estimate);
  return built;
}

// Makes the job a gang that has run in this placement since then.
inline void makeRunning(model::Job& job, std::vector<model::Assignment> assignments, base::WallTime since) {
  job.hasReleaseFinalizer = true;
  job.status.phase = "Running";
  job.status.gang.lastEpoch = std::max<std::int64_t>(1, job.status.gang.lastEpoch);
  job.status.gang.placed = model::Placed{job.status.gang.lastEpoch, std::move(assignments)};
  job.status.gang.proposal.reset();
  job.status.pending.reset();
  job.status.startTime = since;
  job.status.gpus = model::gangGpus(job.spec, job.status.gang);
  job.status.conditions.clear();
  for (const auto type :
       {model::conditions::kAdmitted, model::conditions::kScheduled, model::conditions::kRunning}) {
    job.status.conditions.push_back(
        {std::string(type), model::ConditionStatus::kTrue, "Scene", {}, since, 1});
  }
}

inline std::vector<model::Pod> podsOf(const model::Job& job) {
  std::vector<model::Pod> pods;
  if (!job.status.gang.placed) return pods;
  for (const model::Assignment& each : job.status.gang.placed->assignments) {
    for (const int index : each.indices.values()) {
      pods.push_back(
          pod("").memberOf(job, each.role, index, job.status.gang.placed->epoch).on(each.node.str()));
    }
  }
  return pods;
}

// Jobs that should run but do not fit stay pending.
inline model::Snapshot snapshotOf(const QueueScene& scene, bool backwards = false) {
  SnapshotBuilder builder = cluster();
  builder.now(kSceneNow);
  std::vector<int> capacity = scene.nodes;
  std::vector<model::Job> jobs;
  for (std::size_t i = 0; i < scene.jobs.size(); ++i) {
    model::Job each = jobOf(scene, i);
    std::vector<model::Assignment> assignments;
    std::vector<int> left = capacity;
    for (int member = 0; scene.jobs[i].runs && member < scene.jobs[i].members; ++member) {
      // Spread rather than packed, so that a claim needs victims on more than one node.
      const auto widest = std::max_element(left.begin(), left.end());
      if (*widest < scene.jobs[i].gpus) break;
      *widest -= scene.jobs[i].gpus;
      assignments.push_back(
          {model::NodeName(fmt::format("n{}", widest - left.begin())), "worker", model::IndexSet({member})});
    }
    if (!assignments.empty() && assignments.size() == static_cast<std::size_t>(scene.jobs[i].members)) {
      capacity = left;
      makeRunning(each, std::move(assignments), each.created);
    }
    jobs.push_back(std::move(each));
  }
  std::vector<model::Queue> queues = queuesOf(scene);
  if (backwards) std::reverse(jobs.begin(), jobs.end());
  if (backwards) std::reverse(queues.begin(), queues.end());
  for (std::size_t n = 0; n < scene.nodes.size(); ++n) {
    const std::size_t i = backwards ? scene.nodes.size() - 1 - n : n;
    builder.add(node(fmt::format("n{}", i)).gpus(scene.nodes[i]).zone("z").rack(fmt::format("r{}", i / 2)));
  }
  for (int i = 0; i < 3; ++i)
    builder.priorityClass(kPriorities[backwards ? 2 - i : i], 100 * (backwards ? 2 - i : i));
  for (model::Queue& queue : queues) builder.add(std::move(queue));
  for (const model::Job& each : jobs) {
    for (model::Pod& member : podsOf(each)) builder.add(std::move(member));
    builder.add(each);
  }
  model::Snapshot snapshot = builder.build();
  snapshot.policy.backfill.reservationLimit = std::chrono::minutes(scene.reservationMinutes);
  return snapshot;
}

// The input of a cycle in which all templates are known to be valid.
inline core::CycleInput inputOf(model::Snapshot snapshot) {
  core::CycleInput input;
  input.term = 1;
  for (const auto& each : snapshot.jobs) {
    core::JobFeedback feedback;
    feedback.templateError = "";
    feedback.auxiliariesReady = true;
    input.feedback.emplace(each->key, std::move(feedback));
  }
  input.snapshot = std::move(snapshot);
  return input;
}

// A gang that a plan starts, with the proposal that it writes.
struct PlannedStart {
  std::shared_ptr<const model::Job> job;
  model::Proposal proposal;
};

inline std::vector<PlannedStart> startsOf(const core::Plan& plan) {
  std::vector<PlannedStart> starts;
  for (const core::JobDecision& decision : plan.decisions) {
    if (!decision.status || !decision.status->gang.proposal || decision.job->status.gang.proposal) continue;
    starts.push_back({decision.job, *decision.status->gang.proposal});
  }
  return starts;
}

inline void showValue(const QueueScene& scene, std::ostream& out) {
  out << "nodes:";
  for (const int gpuCount : scene.nodes) out << ' ' << gpuCount;
  out << fmt::format("; reservations lapse after {} min\n", scene.reservationMinutes);
  for (std::size_t i = 0; i < scene.queues.size(); ++i) {
    const SceneQueue& q = scene.queues[i];
    const auto parent = static_cast<std::size_t>(q.parent);
    out << fmt::format("q{} under {}: weight {}, guaranteed {}, limit {}{}{}\n", i,
                       parent > 0 && parent <= i ? queueName(parent - 1) : "-", q.weight, q.guaranteed,
                       q.limit < 0 ? "none" : fmt::to_string(std::max(q.limit, q.guaranteed)),
                       q.reclaim ? "" : ", no reclaim", q.withinQueue ? "" : ", never within");
  }
  for (std::size_t i = 0; i < scene.jobs.size(); ++i) {
    const SceneJob& j = scene.jobs[i];
    out << fmt::format("j{} in q{}: {} x {} gpus, {}{}, age {}00{}{}{}\n", i,
                       scene.queues.empty() ? 0 : static_cast<std::size_t>(j.queue) % scene.queues.size(),
                       j.members, j.gpus, kPriorities[j.priority], j.preemptible ? ", preemptible" : "",
                       j.age, j.estimate > 0 ? fmt::format(", estimate {}00", j.estimate) : "",
                       j.runs ? ", runs" : "",
                       j.required == 1   ? ", rack"
                       : j.required == 2 ? ", node"
                                         : "");
  }
}

}  // namespace trainyard::test

namespace rc {

template <>
struct Arbitrary<trainyard::test::SceneQueue> {
  static Gen<trainyard::test::SceneQueue> arbitrary() {
    using trainyard::test::SceneQueue;
    return gen::build<SceneQueue>(
        gen::set(&SceneQueue::parent, gen::weightedElement<int>({{3, 0}, {2, 1}, {1, 2}})),
        gen::set(&SceneQueue::weight, gen::inRange(1, 4)),
        gen::set(&SceneQueue::guaranteed, gen::weightedElement<int>({{2, 0}, {2, 2}, {1, 4}, {1, 6}})),
        gen::set(&SceneQueue::limit, gen::weightedElement<int>({{4, -1}, {1, 0}, {1, 3}, {2, 6}})),
        gen::set(&SceneQueue::reclaim, gen::weightedElement<bool>({{3, true}, {1, false}})),
        gen::set(&SceneQueue::withinQueue, gen::weightedElement<bool>({{3, true}, {1, false}})));
  }
};

template <>
struct Arbitrary<trainyard::test::SceneJob> {
  static Gen<trainyard::test::SceneJob> arbitrary() {
    using trainyard::test::SceneJob;
    return gen::build<SceneJob>(
        gen::set(&SceneJob::queue, gen::inRange(0, 6)), gen::set(&SceneJob::priority, gen::inRange(0, 3)),
        gen::set(&SceneJob::preemptible, gen::weightedElement<bool>({{3, true}, {1, false}})),
        gen::set(&SceneJob::members, gen::inRange(1, 4)),
        gen::set(&SceneJob::gpus, gen::weightedElement<int>({{3, 1}, {2, 2}, {1, 4}})),
        gen::set(&SceneJob::age, gen::inRange(1, 30)),
        gen::set(&SceneJob::estimate, gen::weightedElement<int>({{2, 0}, {1, 5}, {1, 20}, {1, 40}})),
        gen::set(&SceneJob::runs, gen::weightedElement<bool>({{3, true}, {2, false}})),
        gen::set(&SceneJob::required, gen::weightedElement<int>({{5, 0}, {1, 1}, {1, 2}})));
  }
};

template <>
struct Arbitrary<trainyard::test::QueueScene> {
  static Gen<trainyard::test::QueueScene> arbitrary() {
    using trainyard::test::QueueScene;
    const auto between = [](auto element, int minimum, int most) {
      return gen::mapcat(gen::inRange(minimum, most + 1), [element](int count) {
        return gen::container<std::vector<typename decltype(element)::ValueType>>(
            static_cast<std::size_t>(count), element);
      });
    };
    return gen::build<QueueScene>(
        gen::set(&QueueScene::nodes, between(gen::element(2, 4, 4, 8), 1, 4)),
        gen::set(&QueueScene::queues, between(gen::arbitrary<trainyard::test::SceneQueue>(), 1, 5)),
        gen::set(&QueueScene::jobs, between(gen::arbitrary<trainyard::test::SceneJob>(), 1, 12)),
        gen::set(&QueueScene::reservationMinutes, gen::inRange(0, 3)));
  }
};

}  // namespace rc
