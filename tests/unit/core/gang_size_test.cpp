#include "model/gang_size.h"

#include <catch2/catch.hpp>

#include "core/elastic/user_scale.h"
#include "core/gang/framework_env.h"
#include "core/order/run_times.h"
#include "core/place/fragmentation.h"
#include "core/queues/holdings.h"
#include "core/queues/queue_tree.h"
#include "core/status/job_status.h"
#include "support/builders.h"

namespace trainyard::core {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the builders

// Starts with four workers of eight GPUs, and has nodes for two of them.
model::Job shrunk() {
  model::Job made = job("ml/bert").role("worker", 4, gpus(8)).role("ps", 1, cpus(4));
  made.spec.framework = model::Framework::kPyTorch;
  model::GangRecord& gang = made.status.gang;
  gang.lastEpoch = 1;
  gang.placed = model::Placed{1,
                              {{model::NodeName("n1"), "worker", model::IndexSet({0})},
                               {model::NodeName("n2"), "worker", model::IndexSet({1})},
                               {model::NodeName("n2"), "ps", model::IndexSet({0})}}};
  made.status.service.updatedAt = at(1000);
  return made;
}

model::Proposal proposal(model::ProposalKind kind, std::vector<int> add, std::vector<int> remove = {}) {
  model::Proposal made;
  made.kind = kind;
  if (!add.empty()) made.add = {{model::NodeName("n3"), "worker", model::IndexSet(std::move(add))}};
  if (!remove.empty()) made.remove = {{model::NodeName("n2"), "worker", model::IndexSet(std::move(remove))}};
  return made;
}

std::string valueOf(const model::Environment& env, std::string_view name) {
  for (const auto& [key, value, file] : env) {
    if (key == name) return value;
  }
  return "(unset)";
}

}  // namespace

TEST_CASE("a gang has the size of its record and without a placement that of its spec") {
  model::Job made = shrunk();
  CHECK(model::gangMembers(made, made.spec.roles[0]) == 2);
  CHECK(model::gangMembers(made) == 3);
  CHECK(model::gangGpus(made.spec, made.status.gang) == 16);
  CHECK(model::desiredGpus(made.spec) == 32);

  made.status.gang.proposal = proposal(model::ProposalKind::kGrow, {2, 3});
  CHECK(model::gangMembers(made, made.spec.roles[0]) == 4);
  CHECK(model::placedGpus(made.spec, made.status.gang) == 16);
  made.status.gang.proposal->phase = model::ProposalPhase::kAborting;
  CHECK(model::gangMembers(made, made.spec.roles[0]) == 2);
  made.status.gang.proposal = proposal(model::ProposalKind::kShrink, {}, {1});
  CHECK(model::gangMembers(made, made.spec.roles[0]) == 1);
  made.status.gang.proposal = proposal(model::ProposalKind::kReplace, {1}, {1});
  CHECK(model::gangMembers(made, made.spec.roles[0]) == 2);
  made.status.gang.proposal = proposal(model::ProposalKind::kRestart, {0, 1, 2});
  CHECK(model::gangMembers(made, made.spec.roles[0]) == 3);

  // The gang becomes pending again.
  made.status.gang.proposal = proposal(model::ProposalKind::kRestart, {});
  CHECK(model::gangMembers(made, made.spec.roles[0]) == 4);
  made.status.gang = {};
  CHECK(model::gangMembers(made) == 5);
  CHECK(model::gangGpus(made.spec, made.status.gang) == 32);
}

TEST_CASE("a gang with fewer members than it starts with is charged and placed and named by its record") {
  const model::Job made = shrunk();
  const auto snapshot = cluster().add(node("n1").gpus(8)).add(node("n2").gpus(8)).add(made).now(1060).build();
  const QueueTree tree(snapshot);
  CHECK(demandOf(tree.capacity(), made)[0] == 16);
  CHECK(holdingsOf(tree.capacity(), made)[0] == 16);
  CHECK(tree.node(*tree.find(model::QueueName("default"))).usage[0] == 16);
  CHECK(observedMix(snapshot.jobs).entries().front().weight == 2);
  CHECK(valueOf(MemberEnvironments(made).of("worker", 1, 1), "WORLD_SIZE") == "2");
  CHECK(kindsOf(made)[1] == "queue/default@ml/32");  // it learns from jobs of the requested size
}

TEST_CASE("a gang with fewer members than it starts with is reported and served by its record") {
  model::Job made = shrunk();
  const model::JobStatus derived = deriveStatus(made, made.status.gang, {}, {}, at(1060));
  CHECK(derived.gpus == 16);
  CHECK(derived.roles[0].desired == 2);
  CHECK(derived.replicas == 3);
  CHECK(derived.ready == "0/3");
  CHECK(derived.service == made.status.service);  // nothing has changed
  CHECK(ranSoFar(made, at(1060)) == std::chrono::seconds(60));

  SECTION("until it is preempted") {
    const model::JobStatus stopped = deriveStatus(made, {}, {}, {}, at(1060));
    CHECK(stopped.gpus == 32);
    CHECK(stopped.service == model::Service{60 * 16, 60, at(1060)});
  }
  SECTION("with another size from then on") {
    model::GangRecord larger = made.status.gang;
    larger.placed->assignments.push_back({model::NodeName("n3"), "worker", model::IndexSet({2})});
    made.status = deriveStatus(made, larger, {}, {}, at(1060));
    CHECK(made.status.service == model::Service{60 * 16, 60, at(1060)});
    CHECK(ranSoFar(made, at(1100)) == std::chrono::seconds(100));
    made.status = deriveStatus(made, {}, {}, {}, at(1100));
    CHECK(made.status.service == model::Service{60 * 16 + 40 * 24, 100, at(1100)});
  }
}

TEST_CASE("a request for fewer members than the gang has is kept through other changes") {
  model::Job made = shrunk();
  made.spec.elastic = model::Elastic{.role = "worker", .replicas = 1, .minReplicas = 1, .maxReplicas = 4};
  made.status.resize.decidedBy = model::SizeOwner::kCluster;
  made.generation = made.status.observedGeneration = 1;
  CHECK_FALSE(requestsOtherSize(made));
  made.status = deriveStatus(made, made.status.gang, {}, {}, at(1060));
  CHECK_FALSE(requestsOtherSize(made));

  made.generation = 2;
  made.status = deriveStatus(made, made.status.gang, {}, {}, at(1060));
  CHECK(made.status.observedGeneration == 2);
  CHECK(requestsOtherSize(made));
}

}  // namespace trainyard::core
