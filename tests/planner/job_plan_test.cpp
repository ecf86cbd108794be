#include "core/planner/job_plan.h"

#include <memory>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "core/planner.h"
#include "core/queues/holdings.h"
#include "core/queues/quota_check.h"
#include "model/queue.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

constexpr const char* kType = "nvidia.com/gpu.product";

// 16 A100 and 16 T4; workers and servers request two and four cpu and 8 GiB each.
SnapshotBuilder twoTypes() {
  SnapshotBuilder builder = cluster().now(100);
  for (const char* name : {"a1", "a2"})
    builder.add(node(name).gpus(8).cpu(64).memoryGi(512).label(kType, "A100"));
  for (const char* name : {"t1", "t2"})
    builder.add(node(name).gpus(8).cpu(64).memoryGi(512).label(kType, "T4"));
  return builder;
}

model::Queue queueWith(std::vector<std::pair<std::string, std::int64_t>> limits) {
  model::Queue made;
  made.name = model::QueueName("vision");
  for (const auto& [name, amount] : limits) made.limit.set(name, amount);
  return made;
}

// The speed grows without limit.
std::shared_ptr<const model::ModelProfile> scalingProfile() {
  model::ModelProfile profile;
  profile.parameters = 1'000;
  profile.flopsPerSample = 1'000'000'000;
  profile.batchPerWorker = 64;
  return std::make_shared<const model::ModelProfile>(profile);
}

model::Job asking(bool servers) {
  JobBuilder builder = job("ml/auto").queue("vision").role("worker", 1, requests(1, 2, 8));
  if (servers) builder.role("ps", 1, requests(0, 4, 8));
  model::Job made = builder;
  made.spec.plan.automatic = true;
  made.spec.plan.profile = scalingProfile();
  return made;
}

model::ShapePlan planOf(const model::Job& job, SnapshotBuilder builder) {
  const model::Snapshot snapshot = builder.add(job).build();
  const Ledger ledger(snapshot);
  const QueueTree queues(snapshot);
  return decideShape(job, ledger, queues, snapshot);
}

int plannedOf(const model::ShapePlan& plan, const std::string& role) {
  for (const model::PlannedRole& each : plan.roles) {
    if (each.name == role) return each.replicas;
  }
  return 0;
}

}  // namespace

TEST_CASE("a plan never exceeds the limits of its queue") {
  const bool servers = GENERATE(false, true);
  const auto limit = GENERATE(as<std::pair<std::string, std::int64_t>>{}, std::pair{"nvidia.com/gpu", 6},
                              std::pair{"cpu", std::int64_t{14'000}}, std::pair{"memory", 6 * 8 * kGi},
                              std::pair{"gpu-type.trainyard.dev/A100", 5});
  CAPTURE(servers, limit.first);
  const model::Job each = asking(servers);
  const model::Queue queue = queueWith({limit});
  const model::ShapePlan plan = planOf(each, twoTypes().add(queue));
  INFO(plan.message);
  REQUIRE_FALSE(plan.roles.empty());
  const int workers = plannedOf(plan, "worker");
  CHECK(workers >= 1);

  model::Job shaped = each;
  for (model::Role& role : shaped.spec.roles) role.replicas = plannedOf(plan, role.name);
  const model::Snapshot snapshot = twoTypes().add(queue).add(shaped).build();
  const QueueTree queues(snapshot);
  CHECK_FALSE(beyondEmptyLimit(queues, queues.queueOf(shaped), demandOf(queues.capacity(), shaped)));
  if (plan.gpuType == "A100" && limit.first.ends_with("A100")) CHECK(workers <= 5);
  // As many workers as the limit allows: each is worthwhile.
  if (limit.first == "nvidia.com/gpu") CHECK(workers == 6);
  if (limit.first == "cpu" && !servers) CHECK(workers == 7);
  if (limit.first == "memory" && !servers) CHECK(workers == 6);
}

TEST_CASE("a plan avoids a type of GPU of which the queue's limit allows too few") {
  const model::ShapePlan plan =
      planOf(asking(false), twoTypes().add(queueWith({{"gpu-type.trainyard.dev/A100", 1}})));
  // Sixteen T4 are faster than one A100.
  CHECK(plan.gpuType == "T4");
  CHECK(plannedOf(plan, "worker") == 16);
}

TEST_CASE("the plan of a non-preemptible job excludes what other queues are guaranteed") {
  model::Queue other;
  other.name = model::QueueName("other");
  other.guaranteed.set("nvidia.com/gpu", 28);
  model::Job each = asking(false);
  each.spec.preemptible = true;
  CHECK(plannedOf(planOf(each, twoTypes().add(queueWith({})).add(other)), "worker") == 16);
  each.spec.preemptible = false;
  CHECK(plannedOf(planOf(each, twoTypes().add(queueWith({})).add(other)), "worker") == 4);
}

TEST_CASE("limits that allow no shape are reported") {
  const model::ShapePlan plan = planOf(asking(true), twoTypes().add(queueWith({{"cpu", 5'000}})));
  CHECK(plan.roles.empty());
  CHECK(plan.message.find("limits") != std::string::npos);
}

TEST_CASE("the step predicted on a gang's assigned nodes is the one in its plan for that size") {
  model::Job each = asking(false);
  model::ModelProfile profile = *each.spec.plan.profile;
  profile.parameters = 100'000'000;
  each.spec.plan.profile = std::make_shared<const model::ModelProfile>(profile);
  const model::Snapshot snapshot = twoTypes().add(each).build();
  const Ledger ledger(snapshot);
  const model::Policy policy;
  const auto on = [&](const char* node, int first, int last) {
    std::vector<int> indices;
    for (int i = first; i <= last; ++i) indices.push_back(i);
    return model::Assignment{model::NodeName(node), "worker", model::IndexSet(indices), 1};
  };
  const auto four = predictPlaced(each, {on("t1", 0, 3)}, ledger, policy);
  const auto apart = predictPlaced(each, {on("t1", 0, 1), on("t2", 2, 3)}, ledger, policy);
  const auto mixed = predictPlaced(each, {on("t1", 0, 1), on("a1", 2, 3)}, ledger, policy);
  REQUIRE(four);
  REQUIRE(apart);
  REQUIRE(mixed);
  CHECK(four->workers == 4);
  CHECK(four->nodes == 1);
  CHECK(four->gpuType == "T4");
  CHECK(four->step.seconds < apart->step.seconds);
  CHECK(apart->nodes == 2);
  CHECK(mixed->gpuType.empty());
  CHECK_FALSE(predictPlaced(each, {on("gone", 0, 1)}, ledger, policy));

  each.status.plan.emplace();
  each.status.plan->roles = {{"worker", 2}};
  const auto plan = planAtSize(each, {on("t1", 0, 3)}, ledger, policy, at(500));
  REQUIRE(plan);
  CHECK(plan->roles == each.status.plan->roles);
  CHECK(plan->milliSamplesPerSecond == std::llround(four->step.samplesPerSecond() * 1000));
  CHECK(plan->at == at(500));
  CHECK(plan->message.starts_with("resized to 4 workers on 1 node of T4, limited by"));
  CHECK(plan->message.ends_with("; 2 were planned"));
  each.spec.plan.automatic = false;
  CHECK_FALSE(planAtSize(each, {on("t1", 0, 3)}, ledger, policy, at(500)));
}

TEST_CASE("a profile predicts the speed of each size at the level of the measured speed") {
  model::Job each = asking(false);
  each.spec.elastic.emplace();
  each.spec.elastic->role = "worker";
  each.spec.elastic->minReplicas = 1;
  each.spec.elastic->maxReplicas = 12;
  each.status.gang.placed.emplace();
  each.status.gang.placed->assignments = {{model::NodeName("t1"), "worker", model::IndexSet({0, 1}), 1}};
  const model::Snapshot snapshot = twoTypes().add(each).build();
  const Ledger ledger(snapshot);
  const model::Policy policy;
  FitCache fits;
  const auto predicted = predictedSpeeds(each, 12, 8, ledger, policy, fits);
  REQUIRE(predicted.size() == 5);
  CHECK(predicted[1].replicas == 2);
  CHECK(predicted.back().replicas == 12);
  for (std::size_t i = 1; i < predicted.size(); ++i)
    CHECK(predicted[i].milliSamplesPerSecond > predicted[i - 1].milliSamplesPerSecond);
  each.status.resize.speeds = {{2, predicted[1].milliSamplesPerSecond / 10}};
  const auto leveled = predictedSpeeds(each, 12, 8, ledger, policy, fits);
  REQUIRE(leveled.size() == predicted.size());
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    CHECK(static_cast<double>(leveled[i].milliSamplesPerSecond) ==
          Approx(static_cast<double>(predicted[i].milliSamplesPerSecond) / 10).epsilon(0.01));
  }
  // Fitted once, until another profile replaces it.
  CHECK(fits.made() == 1);
  each.spec.plan.profile = scalingProfile();
  CHECK(predictedSpeeds(each, 12, 8, ledger, policy, fits) == leveled);
  CHECK(fits.made() == 2);
  fits.forgetGone();
  CHECK(predictedSpeeds(each, 12, 8, ledger, policy, fits) == leveled);
  CHECK(fits.made() == 2);
  each.spec.plan.profile = nullptr;
  CHECK(predictedSpeeds(each, 12, 8, ledger, policy, fits).empty());
}

TEST_CASE("speeds by type of GPU are the stated ones or else those measured with one worker") {
  model::ModelProfile profile;
  CHECK(typeSpeeds(profile).empty());
  profile.measurements = {{{1}, 32, 100'000'000, 0, "T4"},
                          {{1}, 64, 160'000'000, 0, "T4"},
                          {{4}, 64, 10'000'000, 0, "T4"},
                          {{1}, 64, 40'000'000, 0, "A100"}};
  CHECK(typeSpeeds(profile) == std::map<std::string, std::int64_t>{{"A100", 1'600'000}, {"T4", 400'000}});
  profile.speeds = {{"T4", 350'000}};
  CHECK(typeSpeeds(profile)["T4"] == 350'000);
  profile.measurements.clear();
  CHECK(typeSpeeds(profile).empty());
}

TEST_CASE("a plan from absurd figures is refused and holds no numbers") {
  model::Job each = asking(false);
  model::ModelProfile profile = *each.spec.plan.profile;
  profile.flopsPerSample = INT64_MAX;
  profile.batchPerWorker = INT32_MAX;
  each.spec.plan.profile = std::make_shared<const model::ModelProfile>(profile);
  const model::ShapePlan plan = planOf(each, twoTypes().add(queueWith({})));
  CHECK(plan.roles.empty());
  CHECK(plan.stepMicros == 0);
  CHECK(plan.milliSamplesPerSecond == 0);
  CHECK(plan.message.find("check its figures") != std::string::npos);
}
