#include "operator/template_checks.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

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

TEST_CASE("nothing is kept of jobs that are gone, nor of their former versions") {
  TemplateChecks checks;
  model::PodShape larger;
  larger.requests.cpu = {4'000};
  checks.passed(waiting("any"), {{"worker", larger}});
  std::vector<std::weak_ptr<const model::Job>> former;
  std::shared_ptr<const model::Job> last;
  for (int i = 0; i < 100; ++i) {
    model::Job job = waiting("j" + std::to_string(i));
    job.spec.roles.emplace_back().name = "worker";
    last = std::make_shared<const model::Job>(job);
    model::Snapshot snapshot;
    snapshot.jobs.edit().push_back(last);
    checks.overlay(snapshot);
    CHECK(snapshot.jobs[0]->spec.roles[0].shape.requests.cpu == larger.requests.cpu);
    model::Snapshot again;
    again.jobs.edit().push_back(last);
    checks.overlay(again);
    CHECK(again.jobs[0] == snapshot.jobs[0]);
    former.push_back(last);
  }
  last.reset();
  CHECK(std::count_if(former.begin(), former.end(), [](const auto& each) { return !each.expired(); }) == 1);
  model::Snapshot empty;
  checks.overlay(empty);
  CHECK(former.back().expired());
}

}  // namespace
}  // namespace trainyard::operator_
