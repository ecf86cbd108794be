#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include <optional>
#include <set>
#include <tuple>

#include "core/priority.h"
#include "property/brute_force.h"
#include "property/queue_scene.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

using JobPtr = std::shared_ptr<const model::Job>;

constexpr const char* kClaimant = "ml/j0";

// One queue, one waiting job (the scene's first), everybody else runs or is not there.
model::Snapshot oneWaits(QueueScene scene) {
  scene.queues.clear();
  scene.jobs[0].runs = false;
  scene.jobs[0].priority = 2;
  for (std::size_t i = 1; i < scene.jobs.size(); ++i) {
    scene.jobs[i].runs = true;
    scene.jobs[i].priority = std::min(scene.jobs[i].priority, static_cast<int>(i % 3));
  }
  const model::Snapshot all = snapshotOf(scene);
  model::Snapshot snapshot = all;
  snapshot.jobs = {};
  for (const JobPtr& job : all.jobs) {
    if (job->status.gang.placed || job->key == key(kClaimant)) snapshot.jobs.push_back(job);
  }
  // Neither holding out for a closer place nor moving others is the question here.
  snapshot.policy.relaxation.cap = {};
  snapshot.policy.defragmentation.enabled = false;
  return snapshot;
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

std::int64_t lostWork(const model::Job& job, const model::Snapshot& snapshot) {
  std::int64_t gpuCount = 0;
  for (const model::Role& role : job.spec.roles) gpuCount += role.shape.requests.gpus() * role.replicas;
  const auto most = std::chrono::duration_cast<std::chrono::seconds>(snapshot.policy.preemption.maxLostWork);
  const auto ran = std::chrono::duration_cast<std::chrono::seconds>(snapshot.now - *job.status.startTime);
  return gpuCount * std::min(ran, most).count();
}

// How many gangs are stopped, and what that costs.
using Cost = std::pair<std::size_t, std::int64_t>;

Cost costOf(const std::vector<JobPtr>& victims, const model::Snapshot& snapshot) {
  Cost cost{victims.size(), 0};
  for (const JobPtr& victim : victims) cost.second += lostWork(*victim, snapshot);
  return cost;
}

// The cheapest way to make room, by trying every set; nothing when none does.
std::optional<Cost> cheapest(const model::Snapshot& snapshot) {
  const model::Job& claimant = jobIn(snapshot, kClaimant);
  const Priorities priorities(snapshot);
  std::vector<JobPtr> candidates;
  for (const JobPtr& job : snapshot.jobs) {
    const bool lower = priorities.of(*job) < priorities.of(claimant);
    if (job->status.gang.placed && job->spec.preemptible && lower) candidates.push_back(job);
  }
  std::optional<Cost> best;
  for (std::size_t mask = 0; mask < (std::size_t{1} << candidates.size()); ++mask) {
    std::vector<JobPtr> gone;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if ((mask >> i & 1U) != 0) gone.push_back(candidates[i]);
    }
    const Cost cost = costOf(gone, snapshot);
    if (best && *best <= cost) continue;
    const model::Snapshot left = without(snapshot, gone);
    if (BruteForce(left, claimant, false).fitsAt(claimant.spec.locality.required)) best = cost;
  }
  return best;
}

}  // namespace

TEST_CASE("the fewest gangs are stopped, and of equally many those that lose least") {
  rc::prop("against every possible choice", [](const QueueScene& scene) {
    const model::Snapshot snapshot = oneWaits(scene);
    RC_PRE(snapshot.jobs.size() <= 9);
    const std::optional<Cost> best = cheapest(snapshot);
    const std::vector<PlannedStart> starts = startsOf(cycle(inputOf(snapshot)));
    RC_CLASSIFY(best && best->first > 0, "somebody is stopped");
    RC_CLASSIFY(best && best->first > 1, "several are");
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
    RC_LOG() << fmt::format("stops {} at {}, best {} at {}\n", cost.first, cost.second, best->first,
                            best->second);
    RC_ASSERT(cost == *best);
  });
}
