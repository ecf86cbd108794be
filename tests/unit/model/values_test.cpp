#include <catch2/catch.hpp>

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

TEST_CASE("reasons: every name reads back") {
  int known = 0;
  for (; static_cast<model::PendingReason>(known) != model::PendingReason::kOther; ++known) {
    const auto reason = static_cast<model::PendingReason>(known);
    CHECK(model::toString(reason) != "Unknown");
    CHECK(model::parsePendingReason(model::toString(reason)) == reason);
  }
  CHECK(known >= 7);
  CHECK_FALSE(model::parsePendingReason("Unknown"));
  CHECK_FALSE(model::parsePendingReason("Other"));
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
