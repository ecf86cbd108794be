#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>

#include "core/queues/priority.h"
#include "property/brute_force.h"
#include "property/queue_scene.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

using JobPtr = std::shared_ptr<const model::Job>;

constexpr const char* kPreemptor = "ml/j0";

model::Snapshot onlyPreemptorWaits(const model::Snapshot& all) {
  model::Snapshot snapshot = all;
  snapshot.jobs = {};
  for (const JobPtr& job : all.jobs) {
    if (job->status.gang.placed || job->key == key(kPreemptor)) snapshot.jobs.push_back(job);
  }
  // Neither waiting for a closer placement nor moving other gangs is part of this property.
  snapshot.policy.relaxation.cap = {};
  snapshot.policy.defragmentation.enabled = false;
  return snapshot;
}

// One queue and one pending job (the scene's first); all others run or are absent.
model::Snapshot oneWaits(QueueScene scene) {
  scene.queues.clear();
  scene.jobs[0].runs = false;
  scene.jobs[0].priority = 2;
  for (std::size_t i = 1; i < scene.jobs.size(); ++i) {
    scene.jobs[i].runs = true;
    scene.jobs[i].priority = std::min(scene.jobs[i].priority, static_cast<int>(i % 3));
  }
  return onlyPreemptorWaits(snapshotOf(scene));
}

// Two or three queues with guarantees; the preemptor's queue is guaranteed its whole demand.
model::Snapshot oneReclaims(QueueScene scene) {
  scene.queues.resize(2 + scene.queues.size() % 2);
  for (SceneQueue& queue : scene.queues) {
    queue.parent = 0;
    queue.limit = -1;
    queue.reclaim = true;
  }
  scene.queues[0].guaranteed = 100;
  for (SceneJob& job : scene.jobs) job.runs = true;
  scene.jobs[0].runs = false;
  scene.jobs[0].queue = 0;
  scene.jobs[0].preemptible = true;
  return onlyPreemptorWaits(snapshotOf(scene));
}
model::Snapshot without(const model::Snapshot& snapshot, const std::vector<JobPtr>& gone) {
  model::Snapshot left = snapshot;
  left.jobs = {};
  left.pods = {};
  const auto goes = [&](const model::Uid& uid) {
    return std::any_of(gone.begin(), gone.end(), [&](const JobPtr& job) { return job->uid == uid; });
  };
  for (const JobPtr& job : snapshot.jobs) {
    if (!goes(job->uid)) left.jobs.push_back(job);
  }
  for (const auto& pod : snapshot.pods) {
    if (!goes(pod->controllerUid)) left.pods.push_back(pod);
  }
  return left;
}

std::int64_t gpusOf(const model::Job& job) {
  std::int64_t gpuCount = 0;
  for (const model::Role& role : job.spec.roles) gpuCount += role.shape.requests.gpus() * role.replicas;
  return gpuCount;
}

std::int64_t lostWork(const model::Job& job, const model::Snapshot& snapshot) {
  const auto most = std::chrono::duration_cast<std::chrono::seconds>(snapshot.policy.preemption.maxLostWork);
  const auto ran = std::chrono::duration_cast<std::chrono::seconds>(snapshot.now - *job.status.startTime);
  return gpusOf(job) * std::min(ran, most).count();
}

// The cost of a set of victims: GPUs by which other queues fall below their guarantees, the number of
// victims, their priorities in the own queue, the highest first, and the lost work.
using Cost = std::tuple<std::int64_t, std::size_t, std::vector<int>, std::int64_t>;

std::int64_t deficitOf(const std::vector<JobPtr>& victims, const model::Snapshot& snapshot) {
  const model::QueueName own = jobIn(snapshot, kPreemptor).spec.queue;
  const auto goes = [&](const JobPtr& job) {
    return std::find(victims.begin(), victims.end(), job) != victims.end();
  };
  std::int64_t deficit = 0;
  for (const auto& queue : snapshot.queues) {
    std::int64_t left = 0;
    bool loses = false;
    for (const JobPtr& job : snapshot.jobs) {
      if (!job->status.gang.placed || job->spec.queue != queue->name) continue;
      if (goes(job))
        loses = true;
      else
        left += gpusOf(*job);
    }
    const std::int64_t guaranteed = queue->guaranteed.amount(model::names::kGpuResource);
    if (loses && queue->name != own) deficit += std::max<std::int64_t>(guaranteed - left, 0);
  }
  return deficit;
}

Cost costOf(const std::vector<JobPtr>& victims, const model::Snapshot& snapshot) {
  const Priorities ranks(snapshot);
  const model::QueueName own = jobIn(snapshot, kPreemptor).spec.queue;
  std::int64_t lost = 0;
  std::vector<int> priorities;
  for (const JobPtr& victim : victims) {
    lost += lostWork(*victim, snapshot);
    if (victim->spec.queue == own) priorities.push_back(ranks.of(*victim));
  }
  std::sort(priorities.rbegin(), priorities.rend());
  return {deficitOf(victims, snapshot), victims.size(), std::move(priorities), lost};
}

using Allowed = std::function<bool(const model::Snapshot&, const std::vector<JobPtr>&)>;

bool allOfLowerPriority(const model::Snapshot& snapshot, const std::vector<JobPtr>& gone) {
  const Priorities priorities(snapshot);
  const int own = priorities.of(jobIn(snapshot, kPreemptor));
  return std::all_of(gone.begin(), gone.end(), [&](const JobPtr& job) { return priorities.of(*job) < own; });
}

// In the preemptor's queue: gangs of lower priority, if the queue permits preemption. In each other queue:
// one gang after the other while it exceeds its guarantee; taking the largest last is the best order.
bool withinRights(const model::Snapshot& snapshot, const std::vector<JobPtr>& gone) {
  const model::Job& preemptor = jobIn(snapshot, kPreemptor);
  for (const auto& queue : snapshot.queues) {
    std::vector<JobPtr> here;
    std::int64_t held = 0;
    for (const JobPtr& job : snapshot.jobs) {
      if (job->status.gang.placed && job->spec.queue == queue->name) held += gpusOf(*job);
    }
    std::copy_if(gone.begin(), gone.end(), std::back_inserter(here),
                 [&](const JobPtr& job) { return job->spec.queue == queue->name; });
    if (here.empty()) continue;
    if (queue->name == preemptor.spec.queue) {
      if (queue->withinQueue == model::WithinQueue::kNever || !allOfLowerPriority(snapshot, here))
        return false;
      continue;
    }
    std::int64_t largest = 0;
    for (const JobPtr& job : here) {
      held -= gpusOf(*job);
      largest = std::max(largest, gpusOf(*job));
    }
    if (held + largest <= queue->guaranteed.amount(model::names::kGpuResource)) return false;
  }
  return true;
}

// The cheapest set of victims, found by trying every set; nullopt if none suffices.
std::optional<Cost> cheapest(const model::Snapshot& snapshot, const Allowed& allowed) {
  const model::Job& preemptor = jobIn(snapshot, kPreemptor);
  std::vector<JobPtr> candidates;
  for (const JobPtr& job : snapshot.jobs) {
    if (job->status.gang.placed && job->spec.preemptible) candidates.push_back(job);
  }
  std::optional<Cost> best;
  for (std::size_t mask = 0; mask < (std::size_t{1} << candidates.size()); ++mask) {
    std::vector<JobPtr> gone;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if ((mask >> i & 1U) != 0) gone.push_back(candidates[i]);
    }
    const Cost cost = costOf(gone, snapshot);
    if ((best && *best <= cost) || !allowed(snapshot, gone)) continue;
    const model::Snapshot left = without(snapshot, gone);
    if (BruteForce(left, preemptor, false).fitsAt(preemptor.spec.locality.required)) best = cost;
  }
  return best;
}

// Checks that the plan has no more victims than the best set, and, with as many, no higher cost.
void comparePlan(const model::Snapshot& snapshot, const Allowed& allowed) {
  const std::optional<Cost> best = cheapest(snapshot, allowed);
  const std::vector<PlannedStart> starts = startsOf(cycle(inputOf(snapshot)));
  RC_CLASSIFY(best && std::get<1>(*best) > 0, "a gang is preempted");
  RC_CLASSIFY(best && std::get<1>(*best) > 1, "several are");
  RC_CLASSIFY(!best, "waits");
  RC_ASSERT(starts.size() == (best ? 1U : 0U));
  if (starts.empty()) return;
  std::set<model::Uid> owners;
  for (const model::Victim& victim : starts[0].proposal.victims) {
    for (const auto& pod : snapshot.pods) {
      if (pod->uid == victim.uid) owners.insert(pod->controllerUid);
    }
  }
  std::vector<JobPtr> victims;
  for (const JobPtr& job : snapshot.jobs) {
    if (owners.contains(job->uid)) victims.push_back(job);
  }
  const Cost cost = costOf(victims, snapshot);
  RC_LOG() << fmt::format("stops {} at {}, best {} at {}\n", std::get<1>(cost), std::get<3>(cost),
                          std::get<1>(*best), std::get<3>(*best));
  RC_ASSERT(allowed(snapshot, victims));
  RC_ASSERT(cost == *best);
}

}  // namespace

TEST_CASE("victims are the fewest gangs and among equally few those that lose least") {
  rc::prop("against every possible choice", [](const QueueScene& scene) {
    const model::Snapshot snapshot = oneWaits(scene);
    RC_PRE(snapshot.jobs.size() <= 9);
    comparePlan(snapshot, allOfLowerPriority);
  });
}

TEST_CASE("victims in other queues are the fewest gangs and only among borrowers") {
  rc::prop("against every choice within rights", [](const QueueScene& scene) {
    const model::Snapshot snapshot = oneReclaims(scene);
    RC_PRE(snapshot.jobs.size() <= 8);
    comparePlan(snapshot, withinRights);
  });
}
