#include "operator/template_checks.h"

#include <catch2/catch.hpp>

namespace trainyard::operator_ {
namespace {

model::Job waiting(std::string_view name) {
  model::Job job;
  job.key = {"ml", std::string(name)};
  job.spec.templateHash = "same";
  return job;
}

TEST_CASE("what is said of one who was given more memory is said of no other with its templates") {
  TemplateChecks checks;
  model::Job larger = waiting("larger");
  larger.status.restarts.add(model::FailureClass::kHostOutOfMemory, true);
  const model::Job sibling = waiting("sibling");
  checks.passed(sibling, {});
  checks.failedForNow(larger, "exceeds the namespace's most", {});
  CHECK(checks.outcome(sibling, {}) == "");
  CHECK(checks.outcome(waiting("another"), {}) == "");
  CHECK(checks.outcome(larger, {}) == "exceeds the namespace's most");
}

}  // namespace
}  // namespace trainyard::operator_
