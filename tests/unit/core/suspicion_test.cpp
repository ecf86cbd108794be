#include "core/search/suspicion.h"

#include <catch2/catch.hpp>

#include "core/cycle/cycle.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::core;  // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

namespace {

using model::FailureClass;

std::shared_ptr<const model::Job> failed(std::string_view name, FailureClass failure,
                                         std::string_view nodeName, std::int64_t when) {
  model::Job each = job(name).role("worker", 1, gpus(8));
  model::LastFailure& last = each.status.lastFailure.emplace();
  last.failure = failure;
  last.node = model::NodeName(std::string(nodeName));
  last.time = at(when);
  each.status.conditions.push_back(
      {"Failed", model::ConditionStatus::kTrue, "MemberFailed", {}, at(when), 1});
  return std::make_shared<const model::Job>(each);
}

constexpr std::int64_t kHour = 3'600;

model::Policy withAfter(int jobs) {
  model::Policy policy;
  policy.failures.suspectAfter = jobs;
  return policy;
}

}  // namespace

TEST_CASE("a node is suspected for a time once gangs of several jobs failed there") {
  const model::Policy policy;
  const std::vector<std::shared_ptr<const model::Job>> accusing = {
      failed("ml/a", FailureClass::kGpuHardware, "n1", 0),
      failed("ml/b", FailureClass::kCudaError, "n1", kHour),
      failed("ml/c", FailureClass::kGpuHardware, "n2", kHour)};
  const model::SharedList<model::Job> all(accusing);
  CHECK(suspectedNodes(accusing, all, policy, at(2 * kHour)) == std::vector{model::NodeName("n1")});
  CHECK(suspectedNodes(accusing, all, policy, at(12 * kHour)).empty());
  CHECK(suspectedNodes(accusing, all, withAfter(0), at(2 * kHour)).empty());
  CHECK(suspectedNodes(accusing, all, withAfter(1), at(2 * kHour)) ==
        std::vector{model::NodeName("n2"), model::NodeName("n1")});
}

TEST_CASE("one tenant's failures alone make no node suspected") {
  const model::Policy policy;
  std::vector<std::shared_ptr<const model::Job>> accusing = {
      failed("evil/a", FailureClass::kGpuHardware, "n1", 0),
      failed("evil/b", FailureClass::kGpuHardware, "n1", 0),
      failed("evil/c", FailureClass::kGpuHardware, "n1", 0)};
  const auto suspects = [&] {
    std::vector<std::shared_ptr<const model::Job>> all = accusing;
    all.push_back(std::make_shared<const model::Job>(job("ml/victim").role("worker", 1, gpus(8))));
    return suspectedNodes(accusing, model::SharedList<model::Job>(all), policy, at(kHour));
  };
  CHECK(suspects().empty());
  accusing.push_back(failed("ml/bert", FailureClass::kCudaError, "n1", 0));
  CHECK(suspects() == std::vector{model::NodeName("n1")});
}

TEST_CASE("a check that ran there without failure clears a node where the policy has one") {
  model::Policy policy;
  policy.preflight.image = "check:1";
  const std::vector<std::shared_ptr<const model::Job>> accusing = {
      failed("ml/a", FailureClass::kGpuHardware, "n1", 0),
      failed("ml/b", FailureClass::kPreflightFailed, "n1", kHour)};
  model::Job checked = job("ml/c").role("worker", 1, gpus(8)).placed("n1", "worker", "0");
  checked.spec.health.preflight = true;
  const auto suspected = [&](std::int64_t since) {
    checked.status.conditions = {{"Running", model::ConditionStatus::kTrue, "", "", at(since), 1}};
    std::vector<std::shared_ptr<const model::Job>> all = accusing;
    all.push_back(std::make_shared<const model::Job>(checked));
    return !suspectedNodes(accusing, model::SharedList<model::Job>(all), policy, at(2 * kHour)).empty();
  };
  CHECK(suspected(kHour));
  CHECK_FALSE(suspected(kHour + 1));
  SECTION("not one that the job did not request") {
    checked.spec.health.preflight = false;
    CHECK(suspected(kHour + 1));
  }
  SECTION("not one that is not configured") {
    policy.preflight.image.clear();
    CHECK(suspected(kHour + 1));
  }
  SECTION("not one on another node") {
    checked.status.gang.placed->assignments[0].node = model::NodeName("n2");
    CHECK(suspected(kHour + 1));
  }
}

TEST_CASE("programs do not accuse nodes") {
  CHECK_FALSE(accusesNode(*failed("ml/a", FailureClass::kImportError, "n1", 0)));
  CHECK_FALSE(accusesNode(*failed("ml/a", FailureClass::kGpuHardware, "", 0)));
  CHECK(accusesNode(*failed("ml/a", FailureClass::kGpuHardware, "n1", 0)));
}

TEST_CASE("a suspected node is avoided and used only where there is no other") {
  const auto placeOf = [](bool otherIsFree) {
    SnapshotBuilder builder = cluster().now(kHour).add(node("n1").gpus(8)).add(node("n2").gpus(8));
    builder.add(*failed("ml/a", FailureClass::kGpuHardware, "n1", 0));
    builder.add(*failed("ml/b", FailureClass::kGpuHardware, "n1", 0));
    builder.add(job("ml/new").role("worker", 1, gpus(8)).created(10));
    if (!otherIsFree) builder.add(pod("other/filler").on("n2").gpus(8));
    CycleInput in;
    in.snapshot = builder.build();
    in.otherFeedback.templateError = "";
    for (const JobDecision& each : cycle(in).decisions) {
      if (each.job->key == key("ml/new") && each.status && each.status->gang.proposal)
        return each.status->gang.proposal->add.front().node;
    }
    return model::NodeName();
  };
  CHECK(placeOf(true) == model::NodeName("n2"));
  CHECK(placeOf(false) == model::NodeName("n1"));
}
