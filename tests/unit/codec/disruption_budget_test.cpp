#include "codec/disruption_budget.h"

#include <catch2/catch.hpp>

#include "codec/json_value.h"

using namespace trainyard;  // NOLINT(google-build-using-namespace): test

TEST_CASE("the budget of a gang selects its members and belongs to its job and permits no eviction") {
  model::Job job;
  job.key = {"ml", "bert"};
  job.uid = model::Uid("u1");
  const auto document = codec::JsonDocument::parse(codec::encodeDisruptionBudget(job));
  REQUIRE(document);
  const codec::JsonValue root = document->root();
  CHECK(root.find("apiVersion").string() == "policy/v1");
  CHECK(root.find("metadata").find("name").string() == "bert-gang-u1");
  CHECK(root.find("metadata").find("name").string() == codec::disruptionBudgetName(job));
  CHECK(root.find("metadata").find("ownerReferences").minified().find("\"uid\":\"u1\"") != std::string::npos);
  CHECK(root.find("spec").find("minAvailable").integer() == 80'000);
  CHECK(root.find("spec").find("selector").find("matchLabels").find("trainyard.dev/job-uid").string() ==
        "u1");
}
