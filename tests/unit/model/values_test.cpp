#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <string_view>

#include "base/enum_table.h"
#include "model/conditions.h"
#include "model/reasons.h"
#include "support/builders.h"

using namespace trainyard;        // NOLINT(google-build-using-namespace): test
using namespace trainyard::test;  // NOLINT(google-build-using-namespace): test

TEST_CASE("labels: they are sorted and the last of equal keys wins") {
  const std::vector<std::pair<std::string, std::string>> entries = {{"b", "1"}, {"a", "1"}, {"b", "2"}};
  const model::Labels labels(entries);
  REQUIRE(labels.entries().size() == 2);
  CHECK(*labels.find("a") == "1");
  CHECK(*labels.find("b") == "2");
  CHECK(labels.find("c") == nullptr);
  CHECK(model::Labels().find("a") == nullptr);
}

TEST_CASE("reasons: every name reads back, and no two are equal") {
  std::set<std::string_view> names;
  for (const model::PendingReasonTraits& each : model::kPendingReasons) {
    CAPTURE(each.name);
    CHECK(names.insert(each.name).second);
    CHECK(model::toString(each.reason) == each.name);
    if (each.reason == model::PendingReason::kOther) continue;
    CHECK(model::parsePendingReason(each.name) == each.reason);
  }
  for (const model::DelayKindTraits& each : model::kDelayKinds)
    CHECK(model::parseDelayKind(model::toString(each.kind)) == each.kind);
  CHECK_FALSE(model::parsePendingReason("Unknown"));
  CHECK_FALSE(model::parsePendingReason("Other"));
}

TEST_CASE("reasons: their properties agree with each other") {
  for (const model::PendingReasonTraits& each : model::kPendingReasons) {
    CAPTURE(each.name);
    // The start of a job that waits for capacity is that of other jobs' ends, and a scheduler could change
    // it.
    if (each.waitsForCapacity) CHECK(each.expectsStart);
    if (each.expectsStart) CHECK(each.delay != model::DelayKind::kNone);
    if (each.kind == model::ReasonKind::kAdmitted) continue;
    CHECK_FALSE(each.expectsStart);
    CHECK_FALSE(each.wantsNodes);
    CHECK(each.delay == model::DelayKind::kNone);
  }
}

TEST_CASE("a table without the row of the last enumerator, or with rows in another order, is found") {
  enum class Color { kRed, kBlue };
  struct Row {
    Color color;
  };
  CHECK(base::hasRowForEach(std::array{Row{Color::kRed}, Row{Color::kBlue}}, &Row::color));
  CHECK_FALSE(base::hasRowForEach(std::array{Row{Color::kRed}}, &Row::color));
  CHECK_FALSE(base::hasRowForEach(std::array{Row{Color::kBlue}, Row{Color::kRed}}, &Row::color));
}

TEST_CASE("jobs: members at the start and roles by name") {
  model::Job bert = job("ml/bert").role("worker", 4, gpus(8)).role("ps", 2, cpus(4));
  CHECK(bert.spec.totalReplicas() == 6);
  bert.spec.elastic = model::Elastic{"worker", 8, 2, 16};
  CHECK(bert.spec.totalReplicas() == 10);
  CHECK(bert.spec.findRole("ps")->replicas == 2);
  CHECK(bert.spec.findRole("chief") == nullptr);
  CHECK(model::podName("bert", "worker", 3) == "bert-worker-3");
}

TEST_CASE("jobs: finished by either condition and only when it is true") {
  CHECK_FALSE(job("ml/bert").build().finished());
  CHECK(job("ml/bert").condition(model::conditions::kSucceeded).build().finished());
  CHECK(job("ml/bert").condition(model::conditions::kFailed).build().finished());
  CHECK_FALSE(job("ml/bert").condition(model::conditions::kFailed, false).build().finished());
}

TEST_CASE("names of one kind order by namespace and then by name") {
  CHECK(key("a/z") < key("b/a"));
  CHECK(key("a/a") < key("a/b"));
  CHECK(fmt::to_string(key("ml/bert")) == "ml/bert");
}
