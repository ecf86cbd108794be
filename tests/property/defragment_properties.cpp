#include <algorithm>
#include <map>
#include <set>

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "core/ledger/ledger.h"
#include "core/ledger/what_if.h"
#include "property/instant_cluster.h"
#include "property/queue_scene.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

// Many small running jobs, and one pending job that needs more GPUs in one domain than are free there. Its
// estimate is long, so that moving a job is worth it.
model::Snapshot scattered(QueueScene scene, int wanted) {
  scene.queues.clear();
  for (SceneJob& job : scene.jobs) {
    job.runs = true;
    job.priority = 0;
    job.members = 1 + job.members % 2;
    job.gpus = 1 + job.gpus % 2;
    job.age = 1 + job.age % 5;
  }
  scene.jobs.push_back(
      {.preemptible = false, .members = 1 + wanted % 2, .gpus = 4, .age = 1, .estimate = 500});
  const model::Snapshot all = snapshotOf(scene);
  const model::ObjectKey last = key(jobName(scene.jobs.size() - 1));
  model::Snapshot snapshot = all;
  snapshot.jobs = {};
  for (const auto& job : all.jobs) {
    if (job->status.gang.placed || job->key == last) snapshot.jobs.push_back(job);
  }
  snapshot.policy.relaxation.cap = {};
  return snapshot;
}

std::set<model::Uid> ownersOf(const std::vector<model::Victim>& victims, const model::Snapshot& snapshot) {
  std::set<model::Uid> owners;
  for (const model::Victim& victim : victims) {
    for (const auto& pod : snapshot.pods) {
      if (pod->uid == victim.uid) owners.insert(pod->controllerUid);
    }
  }
  return owners;
}

std::int64_t freeGpus(const model::Snapshot& snapshot) {
  const Ledger ledger(snapshot);
  std::int64_t gpuCount = 0;
  for (const auto& capacity : ledger.nodes()) gpuCount += capacity.free.gpus();
  return gpuCount;
}

}  // namespace

TEST_CASE("each moved gang gets new nodes in the plan that starts the gang for which it moves") {
  rc::prop("moves", [](const QueueScene& scene, bool two) {
    const model::Snapshot snapshot = scattered(scene, two ? 1 : 0);
    const std::vector<PlannedStart> starts = startsOf(cycle(inputOf(snapshot)));
    std::map<model::Uid, const PlannedStart*> moved;
    const PlannedStart* preemptor = nullptr;
    for (const PlannedStart& start : starts) {
      if (start.job->status.gang.placed) {
        moved[start.job->uid] = &start;
      } else {
        RC_ASSERT(preemptor == nullptr);
        preemptor = &start;
      }
    }
    RC_CLASSIFY(preemptor == nullptr, "waits on");
    RC_CLASSIFY(moved.size() == 1, "one moves");
    RC_CLASSIFY(moved.size() == 2, "two move");
    RC_ASSERT(moved.size() <= 2);
    if (moved.empty()) return;
    RC_ASSERT(preemptor != nullptr);
    RC_ASSERT(freeGpus(snapshot) >= 4 * preemptor->job->spec.totalReplicas());
    const std::set<model::Uid> named = ownersOf(preemptor->proposal.victims, snapshot);
    RC_ASSERT(named.size() == moved.size());
    Ledger ledger(snapshot);
    NodeAmounts ended;
    for (const auto& pod : snapshot.pods) {
      if (moved.contains(pod->controllerUid))
        ended.emplace_back(ledger.find(pod->node).value(), pod->shape.requests);
    }
    WhatIf withoutMoved(ledger);
    withoutMoved.release(ended);
    for (const PlannedStart& start : starts) {
      std::int64_t members = 0;
      for (const model::Assignment& each : start.proposal.add) {
        const std::size_t node = ledger.find(each.node).value();
        members += static_cast<std::int64_t>(each.indices.size());
        ledger.take(node, start.job->spec.roles[0].shape.requests, static_cast<int>(each.indices.size()));
        RC_ASSERT(ledger.nodes()[node].free.gpus() >= 0);
      }
      RC_ASSERT(members == start.job->spec.totalReplicas());
      if (&start == preemptor) continue;
      RC_ASSERT(named.contains(start.job->uid));
      RC_ASSERT(start.job->spec.preemptible);
      RC_ASSERT(start.proposal.kind == model::ProposalKind::kRestart);
    }
  });
}

TEST_CASE("the plans that follow move no gang again") {
  rc::prop("settled", [](const QueueScene& scene, bool two) {
    InstantCluster cluster(scattered(scene, two ? 1 : 0));
    cluster.step();
    const std::size_t moves = cluster.stopped();
    RC_CLASSIFY(moves > 0, "a gang moved");
    for (int i = 0; i < 3; ++i) {
      cluster.pass(std::chrono::seconds(600));
      cluster.step();
    }
    RC_ASSERT(cluster.stopped() == moves || moves == 0);
  });
}
